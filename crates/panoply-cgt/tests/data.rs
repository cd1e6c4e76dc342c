//! `data/cgt/README.md` states the checksums of the data files.

use std::fs;
use std::path::Path;

use sha2::{Digest, Sha256};

#[test]
fn readme_checksums_match_the_data() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/cgt");
    let readme = fs::read_to_string(folder.join("README.md")).unwrap();
    let files: Vec<_> =
        fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    for file in files.iter().map(|name| name.to_string_lossy()).filter(|name| name != "README.md") {
        let row = readme.lines().find(|line| line.starts_with(&format!("| `{file}`")));
        let row = row.unwrap_or_else(|| panic!("{file} is not in the README"));
        let sum = Sha256::digest(fs::read(folder.join(&*file)).unwrap());
        let sum: String = sum.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        assert!(row.contains(&sum), "{file} has changed: its checksum is {sum}");
    }
}
