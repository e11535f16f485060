#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| netdiag_fuzz::logs::check(input));
