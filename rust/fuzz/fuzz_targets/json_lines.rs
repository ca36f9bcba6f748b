//! Whatever stands in a file of JSON lines: no line changes how another one is read, and every field has a value a line.
#![no_main]

use _core::json_lines::{Limits, fields, keys};
use libfuzzer_sys::fuzz_target;

const LIMITS: Limits = Limits { longest: 1 << 10, deepest: 8 };

fuzz_target!(|data: &[u8]| {
    let names = ["a".to_owned(), "b".to_owned()];
    let together = fields(data, &names, LIMITS);
    let mut lines = 0;
    let mut text = [Vec::new(), Vec::new()];
    for line in data.split(|&byte| byte == b'\n') {
        let alone = fields(line, &names, LIMITS);
        let kept = alone[0].offsets.len() - 1;
        assert_eq!(kept == 1, keys(line, LIMITS).is_some());
        lines += kept;
        for (all, field) in text.iter_mut().zip(&alone) {
            all.extend_from_slice(&field.text);
            assert!(std::str::from_utf8(&field.text).is_ok());
        }
    }
    for (field, text) in together.iter().zip(text) {
        assert_eq!(field.offsets.len(), lines + 1);
        assert_eq!(field.present.len(), lines.div_ceil(8));
        assert_eq!(field.text, text);
    }
});
