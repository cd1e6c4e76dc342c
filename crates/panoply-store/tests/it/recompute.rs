//! Recomputes the hash chain in Python from the documented encoding.

use std::process::Command;

use panoply_store::audit_log::verify;

use crate::entries::log_with;

const SCRIPT: &str = r#"
import hashlib, sqlite3, sys
previous, count = bytes(32), 0
for row in sqlite3.connect(sys.argv[1]).execute("SELECT * FROM audit ORDER BY sequence"):
    # Address, credential, count and format were added after the two hashes.
    text = b"panoply-audit-%d\n" % row[19]
    for field in row[:14] + row[16:19] + (previous,):
        if field is None:
            text += b"-"
            continue
        raw = field if isinstance(field, bytes) else str(field).encode()
        text += b"%d:%b," % (len(raw), raw)
    count, previous = count + 1, hashlib.sha256(text).digest()
print(count, previous.hex())
"#;

#[tokio::test]
async fn python_recomputes_the_same_chain() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("audit.db");
    log_with(&file, 30).await;
    let Ok(output) = Command::new("python3").arg("-c").arg(SCRIPT).arg(&file).output() else {
        // Python is not installed.
        return;
    };
    let head = verify(&file, None).unwrap().head.unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert_eq!(printed.trim(), format!("{} {}", head.sequence, head.hash));
}
