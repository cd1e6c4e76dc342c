//! The repository keeps its own rules. Each test is one rule; the rules are in `src/tidy/`.
#![expect(clippy::expect_used, reason = "helpers of tests may fail the test")]

use std::fs;
use std::path::Path;
use std::process::Command;

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand};
use panoply_testkit::tidy::data::Folder;
use panoply_testkit::tidy::dependencies::Manifest;
use panoply_testkit::tidy::{self, Repository, assert_none, root};
use sha2::{Digest, Sha256};

#[test]
fn every_file_says_what_it_is_for() {
    assert_none(&tidy::shape::without_purpose(&Repository::here()));
}

#[test]
fn no_file_is_too_long() {
    assert_none(&tidy::shape::longer_than(&Repository::here(), tidy::shape::TOO_LONG));
}

#[test]
fn every_long_step_selects_a_test_that_exists() {
    assert_none(&tidy::test_names::missing_selections(&Repository::here()));
}

#[test]
fn no_file_is_an_orphan() {
    assert_none(&tidy::modules::orphans(&Repository::here()));
}

#[test]
fn no_forbidden_word_is_written() {
    assert_none(&tidy::forbidden_text::found(&Repository::here()));
}

#[test]
fn transactions_of_postgresql_are_committed_in_one_place() {
    assert_none(&tidy::commits::elsewhere(&Repository::here()));
}

#[test]
fn every_insert_names_its_columns() {
    assert_none(&tidy::inserts::positional(&Repository::here()));
}

#[test]
fn sqlite_stays_behind_the_stores() {
    assert_none(&tidy::store_seam::mentions(&Repository::here()));
}

#[test]
fn no_confidence_is_written_down() {
    assert_none(&tidy::confidence::literals(&Repository::here()));
}

#[test]
fn interfaces_of_one_system_are_under_a_cfg() {
    assert_none(&tidy::portability::unconditional(&Repository::here()));
}

#[test]
fn every_environment_variable_is_declared() {
    assert_none(&tidy::env_vars::undeclared(&Repository::here()));
}

#[test]
fn documents_link_to_files_that_exist() {
    let root = root();
    assert_none(&tidy::links::broken(&Repository::here(), |path| root.join(path).exists()));
}

#[test]
fn paths_in_the_code_map_exist() {
    let root = root();
    assert_none(&tidy::links::missing_paths(&Repository::here(), |path| root.join(path).exists()));
}

#[test]
fn no_banned_phrase_is_written() {
    assert_none(&tidy::phrases::found(&Repository::here()));
}

#[test]
fn every_spec_line_names_a_test_that_exists() {
    let repository = Repository::here();
    assert_none(&tidy::traceability::problems(&repository, &tidy::traceability::RECORDED));
}

#[test]
fn crates_depend_only_on_what_the_architecture_allows() {
    let metadata = metadata();
    let manifests: Vec<Manifest> = metadata.packages.iter().map(manifest).collect();
    assert!(manifests.len() > 4, "the workspace has more crates than {}", manifests.len());
    assert_none(&tidy::dependencies::refused(&manifests));
    assert_none(&tidy::dependencies::stale(&manifests));
}

#[test]
fn every_data_file_says_where_it_comes_from() {
    let folders = fs::read_dir(root().join("data")).unwrap().map(|entry| entry.unwrap());
    let folders = folders.filter(|entry| entry.path().is_dir()).map(|entry| folder(&entry.path()));
    let problems: Vec<_> = folders.flat_map(|folder| tidy::data::unexplained(&folder)).collect();
    assert_none(&problems);
}

#[test]
fn the_test_scripts_are_executable_and_parse() {
    for script in ["test", ".ci/run"] {
        let path = root().join(script);
        let parsed = Command::new("bash").arg("-n").arg(&path).status().unwrap();
        assert!(parsed.success(), "{script} does not parse");
        let executable = Command::new("test").arg("-x").arg(&path).status().unwrap();
        assert!(executable.success(), "{script} is not executable");
    }
}

fn folder(path: &Path) -> Folder {
    let files = fs::read_dir(path).expect("a folder can be read").map_while(Result::ok);
    let mut folder = Folder {
        path: path.strip_prefix(root()).unwrap_or(path).display().to_string(),
        ..Folder::default()
    };
    for file in files.filter(|entry| entry.path().is_file()) {
        let name = file.file_name().to_string_lossy().into_owned();
        let bytes = fs::read(file.path()).expect("a file can be read");
        if name == "README.md" {
            folder.readme = Some(String::from_utf8_lossy(&bytes).into_owned());
        } else {
            let digest = Sha256::digest(&bytes);
            folder.files.push((name, digest.iter().map(|byte| format!("{byte:02x}")).collect()));
        }
    }
    folder
}

fn metadata() -> Metadata {
    let mut command = MetadataCommand::new();
    command.current_dir(root()).other_options(vec!["--locked".to_owned()]).no_deps();
    command.exec().expect("cargo can describe the workspace")
}

fn manifest(package: &cargo_metadata::Package) -> Manifest {
    let names = |dev: bool| {
        let kept = package
            .dependencies
            .iter()
            .filter(|dependency| (dependency.kind == DependencyKind::Development) == dev);
        kept.map(|dependency| dependency.name.to_string()).collect()
    };
    Manifest {
        name: package.name.to_string(),
        dependencies: names(false),
        dev_dependencies: names(true),
    }
}
