//! Any text and any number read as a date: what is one is written and read again as the same.
#![no_main]

use hyperdoc2vec::Date;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (i32, &str)| {
    let (packed, text) = input;
    for date in [Date::from_packed(packed), text.parse().ok()].into_iter().flatten() {
        assert_eq!(date.to_string().parse(), Ok(date));
        assert_eq!(Date::from_packed(date.packed()), Some(date));
        assert!(date.packed() > 0 && date.is_up_to(date));
        let year: Date = format!("{:04}", date.year()).parse().expect("a year");
        assert!(year <= date && date.is_up_to(year));
    }
});
