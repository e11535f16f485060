//! Every input of the corpus in the tree keeps what is promised.

use std::fs;
use std::path::Path;

use netdiag_fuzz::{capture, logs, messages, state, tcp, unpacking};

fn holds(target: &str, check: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
    let mut count = 0;
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        println!("{}", path.display());
        check(&fs::read(&path).unwrap());
        count += 1;
    }
    assert!(count > 10, "{} has no inputs", folder.display());
}

#[test]
fn captures() {
    holds("capture", capture::check);
}

#[test]
fn tcp_streams() {
    holds("tcp", tcp::check);
}

#[test]
fn bodies_of_messages() {
    holds("messages", messages::check);
}

#[test]
fn compressed_batches() {
    holds("unpacking", unpacking::check);
}

#[test]
fn saved_states() {
    holds("state", state::check);
}

#[test]
fn logs_of_brokers() {
    holds("logs", logs::check);
}
