use super::*;

const BODY: &[u8] = b"preamble\r\n--XX\r\nContent-Disposition: form-data; name=\"photo\"; filename=\"a;b.png\"\r\n\
    Content-Type: image/png\r\n\r\n\r\n--X\r\nbytes\r\n--XX  \r\ncontent-disposition: form-data; name=chat_id\r\n\r\n-5\r\n\
    --XX\r\nContent-Disposition: form-data; name=\"empty\"\r\n\r\n\r\n--XX--\r\nepilogue";

fn parse(body: &[u8], step: usize) -> Result<Found, BodyFault> {
    let mut parser = Multipart::new("XX", 1000);
    for chunk in body.chunks(step) {
        parser.feed(chunk)?;
    }
    parser.finish()
}

#[test]
fn fields_before_and_after_a_file_however_the_body_is_cut() {
    for step in 1..BODY.len() {
        let (pairs, files) = parse(BODY, step).unwrap();
        assert_eq!(pairs, [("chat_id".into(), "-5".into()), ("empty".into(), String::new())], "step {step}");
        assert_eq!(files, [("photo".to_owned(), 12)], "step {step}");
    }
}

#[test]
fn a_body_that_is_not_closed_is_malformed() {
    for end in 0..BODY.len() - 12 {
        assert!(matches!(parse(&BODY[..end], 7), Err(BodyFault::Malformed(_))), "cut at {end}");
    }
}

#[test]
fn a_part_without_a_name_is_malformed() {
    assert!(matches!(parse(b"--XX\r\n\r\nx\r\n--XX--", 100), Err(BodyFault::Malformed(_))));
}

#[test]
fn uploads_are_not_kept_and_fields_are_bounded() {
    let mut parser = Multipart::new("XX", 1000);
    parser.feed(b"--XX\r\nContent-Disposition: form-data; name=\"f\"; filename=\"x\"\r\n\r\n").unwrap();
    for _ in 0..10_000 {
        parser.feed(&[7; 1000]).unwrap();
        assert!(parser.buffer.len() < 2000);
    }
    parser.feed(b"\r\n--XX\r\nContent-Disposition: form-data; name=\"t\"\r\n\r\n").unwrap();
    assert_eq!(parser.files, [("f".to_owned(), 10_000_000)]);
    let fault = (0..10).find_map(|_| parser.feed(&[65; 500]).err());
    assert_eq!(fault, Some(BodyFault::TooLarge));
}
