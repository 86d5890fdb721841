# The program in an image of its own: docker build -t hd2v . && docker run --rm -v "$PWD:/data" hd2v info papers.model
FROM rust:1-slim-bookworm AS build
RUN apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY . .
RUN cargo build --release --locked --package hd2v

FROM debian:bookworm-slim
COPY --from=build /source/target/release/hd2v /usr/local/bin/hd2v
RUN useradd --create-home hd2v
USER hd2v
WORKDIR /data
EXPOSE 8080
# To serve: docker run -p 8080:8080 -v "$PWD:/data" hd2v serve papers.model --host 0.0.0.0 --token-file token.txt
ENTRYPOINT ["hd2v"]
