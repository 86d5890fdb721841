//! The server as its clients meet it: the real program, asked over a real socket.
