//! The processes of a storm: replicas behind haproxy, over one PostgreSQL and one Redis. The balancer
//! runs with `deploy/haproxy.cfg`, with the addresses of the test in place of Docker's.

use std::fs::File;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::client::HttpClient;
use crate::postgres::PostgresServer;
use crate::redis::RedisServer;

const DEPLOYED: &str = include_str!("../../../../deploy/haproxy.cfg");
/// Longest wait for a replica to be ready.
const START_TIMEOUT: Duration = Duration::from_secs(60);

/// All of them.
pub(super) struct Cluster {
    pub(super) database: PostgresServer,
    pub(super) cache: RedisServer,
    pub(super) replicas: Vec<Replica>,
    pub(super) balancer: Balancer,
    panoply: PathBuf,
    folder: PathBuf,
    tenants: Vec<Tenant>,
}

/// A user.
struct Tenant {
    id: String,
    key: String,
}

impl Cluster {
    /// Starts everything, and makes the users.
    pub(super) fn start(panoply: &Path, folder: &Path, replicas: usize, tenants: usize) -> Self {
        let (database, cache) = (PostgresServer::start(), RedisServer::start());
        let admin = database.admin_url();
        let operator = |arguments: &[&str]| {
            run(panoply_at(panoply, &folder.join("operator"), &database).args(arguments))
        };
        operator(&["db", "init", "--admin", &admin]);
        let tenants: Vec<Tenant> = (0..tenants)
            .map(|number| {
                let name = format!("user{number}");
                operator(&["users", "add", &name]);
                let key = operator(&["keys", "create", "storm", "--user", &name]).trim().to_owned();
                let sql = format!("SELECT id FROM kernel.tenant WHERE name = '{name}'");
                let id = database.psql("postgres", crate::postgres::DATABASE, &sql).unwrap();
                Tenant { id, key }
            })
            .collect();
        let mut replicas: Vec<Replica> = (0..replicas)
            .map(|number| Replica {
                command: (panoply.to_owned(), folder.join(format!("replica-{number}"))),
                name: format!("r{number}"),
                stores: (database.app_url(), cache.url(), replicas),
                ports: (free_port(), free_port()),
                process: None,
            })
            .collect();
        replicas.iter_mut().for_each(Replica::start);
        replicas.iter().for_each(Replica::wait_until_ready);
        let balancer = Balancer::start(folder, &replicas);
        let (panoply, folder) = (panoply.to_owned(), folder.to_owned());
        Self { database, cache, replicas, balancer, panoply, folder, tenants }
    }

    /// The address of the balancer.
    pub(super) fn address(&self) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], self.balancer.port))
    }

    pub(super) fn key(&self, tenant: usize) -> String {
        self.tenants.get(tenant).unwrap().key.clone()
    }

    pub(super) fn tenant_id(&self, tenant: usize) -> &str {
        &self.tenants.get(tenant).unwrap().id
    }

    pub(super) const fn tenants(&self) -> usize {
        self.tenants.len()
    }

    /// Waits until everything runs as it should.
    pub(super) fn heal(&mut self) {
        for replica in &mut self.replicas {
            if replica.has_ended() {
                replica.start();
            }
        }
        self.replicas.iter().for_each(Replica::wait_until_ready);
    }

    /// Ends the replicas, so that they write what they still hold.
    pub(super) fn stop_replicas(&mut self) {
        self.replicas.iter().for_each(|one| one.signal("TERM"));
        self.replicas.iter_mut().for_each(Replica::wait);
    }

    /// Runs SQL as the superuser.
    pub(super) fn sql(&self, sql: &str) -> String {
        self.database.psql("postgres", crate::postgres::DATABASE, sql).unwrap()
    }

    /// Runs a command of the operator; returns whether it succeeded, and what it said.
    pub(super) fn operator(&self, arguments: &[&str]) -> (bool, String) {
        let home = self.folder.join("operator");
        let ran =
            panoply_at(&self.panoply, &home, &self.database).args(arguments).output().unwrap();
        let text = [ran.stdout, ran.stderr].concat();
        (ran.status.success(), String::from_utf8_lossy(&text).into_owned())
    }
}

/// A server.
pub(super) struct Replica {
    /// Program and home.
    command: (PathBuf, PathBuf),
    name: String,
    /// URLs of database and cache, and the number of replicas.
    stores: (String, String, usize),
    /// For clients and for operators.
    ports: (u16, u16),
    process: Option<Child>,
}

impl Replica {
    pub(super) fn start(&mut self) {
        let (panoply, home) = &self.command;
        std::fs::create_dir_all(home).unwrap();
        let log = || {
            Stdio::from(
                File::options().create(true).append(true).open(home.with_extension("log")).unwrap(),
            )
        };
        let (listen, admin) = self.ports;
        let (store, cache, replicas) = &self.stores;
        let child = until_we_end(panoply)
            .args(["http", "noema", "--lame-duck", "1"])
            .args(["--listen", &format!("127.0.0.1:{listen}")])
            .args(["--admin-addr", &format!("127.0.0.1:{admin}")])
            .env("PANOPLY_HOME", home)
            .env("PANOPLY_STORE", store)
            .env("PANOPLY_CACHE", cache)
            .env("PANOPLY_REPLICA", &self.name)
            .env("PANOPLY_REPLICA_COUNT", replicas.to_string())
            .env("PANOPLY_LOG", "warn")
            .stdin(Stdio::null())
            .stdout(log())
            .stderr(log())
            .spawn();
        self.process = Some(child.unwrap());
    }

    /// kill -9.
    pub(super) fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.kill().unwrap();
            process.wait().unwrap();
        }
    }

    /// SIGTERM; it must end by itself, with status 0.
    pub(super) fn stop(&mut self) {
        self.signal("TERM");
        self.wait();
    }

    fn wait(&mut self) {
        if let Some(mut process) = self.process.take() {
            let ended = process.wait().unwrap();
            assert!(ended.success(), "{} ended with {ended}", self.name);
        }
    }

    pub(super) fn restart(&mut self) {
        self.stop();
        self.start();
    }

    pub(super) fn signal(&self, name: &str) {
        let Some(process) = &self.process else { return };
        let sent =
            Command::new("kill").args([format!("-{name}"), process.id().to_string()]).status();
        assert!(sent.is_ok_and(|status| status.success()), "cannot send SIG{name}");
    }

    pub(super) fn wait_until_ready(&self) {
        wait_for(&self.name, self.ports.1);
    }

    fn has_ended(&mut self) -> bool {
        self.process.as_mut().is_none_or(|process| process.try_wait().unwrap().is_some())
    }
}

impl Drop for Replica {
    fn drop(&mut self) {
        self.kill();
    }
}

/// haproxy.
pub(super) struct Balancer {
    port: u16,
    configuration: PathBuf,
    process: Option<Child>,
}

impl Balancer {
    fn start(folder: &Path, replicas: &[Replica]) -> Self {
        let configuration = folder.join("haproxy.cfg");
        let port = free_port();
        std::fs::write(&configuration, configuration_for(port, replicas)).unwrap();
        let mut balancer = Self { port, configuration, process: None };
        balancer.restart();
        balancer
    }

    /// Kills it and starts it again.
    pub(super) fn restart(&mut self) {
        self.kill();
        let child = until_we_end(&haproxy())
            .args(["-db", "-f"])
            .arg(&self.configuration)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        self.process = Some(child.unwrap());
        wait_for("haproxy", self.port);
    }

    fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.kill().unwrap();
            process.wait().unwrap();
        }
    }
}

impl Drop for Balancer {
    fn drop(&mut self) {
        self.kill();
    }
}

/// `deploy/haproxy.cfg` with the addresses of the test, and checks as often as a short test needs.
fn configuration_for(port: u16, replicas: &[Replica]) -> String {
    let servers: Vec<String> = replicas
        .iter()
        .map(|one| {
            let (listen, admin) = one.ports;
            format!("    server {} 127.0.0.1:{listen} check port {admin}", one.name)
        })
        .collect();
    let defaults = "    default-server inter 200ms fall 3 rise 1 maxconn 512";
    let replaced = [
        ("    bind :8080", format!("    bind 127.0.0.1:{port}")),
        ("    log stdout ", String::new()),
        ("    default-server ", defaults.to_owned()),
        ("    server-template ", servers.join("\n")),
    ];
    let mut used = [false; 4];
    let mut text = String::new();
    for section in DEPLOYED.split("\n\n").filter(|section| {
        !section.contains("resolvers docker\n") && !section.contains("frontend statistics")
    }) {
        for line in section.lines() {
            let place = replaced.iter().position(|(start, _)| line.starts_with(start));
            match place.and_then(|place| Some((replaced.get(place)?, used.get_mut(place)?))) {
                Some(((_, instead), used)) => {
                    *used = true;
                    text.push_str(instead);
                }
                None => text.push_str(line),
            }
            text.push('\n');
        }
        text.push('\n');
    }
    assert_eq!(used, [true; 4], "deploy/haproxy.cfg has other lines:\n{DEPLOYED}");
    text
}

fn panoply_at(panoply: &Path, home: &Path, database: &PostgresServer) -> Command {
    std::fs::create_dir_all(home).unwrap();
    let mut command = Command::new(panoply);
    command.env("PANOPLY_HOME", home).env("PANOPLY_STORE", database.app_url());
    command
}

fn run(command: &mut Command) -> String {
    let ran = command.output().unwrap();
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{command:?}: {said}");
    String::from_utf8_lossy(&ran.stdout).into_owned()
}

/// A command that ends with the thread that starts it.
fn until_we_end(program: &Path) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig=KILL", "--"]).arg(program);
    command
}

/// Waits until `/readyz` is 200.
fn wait_for(name: &str, port: u16) {
    let deadline = Instant::now() + START_TIMEOUT;
    let address = format!("127.0.0.1:{port}");
    let is_ready =
        || HttpClient::new(&address).try_get("/readyz").is_some_and(|reply| reply.status == 200);
    while !is_ready() {
        assert!(Instant::now() < deadline, "{name} is not ready within {START_TIMEOUT:?}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// haproxy's program; installs it on Debian.
fn haproxy() -> PathBuf {
    let program = PathBuf::from("/usr/sbin/haproxy");
    if !program.is_file() {
        eprintln!("haproxy is not installed; installing it from Debian");
        let install = "apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends haproxy";
        let ran = Command::new("sh").args(["-c", install]).status();
        assert!(ran.is_ok_and(|status| status.success()), "install haproxy");
    }
    program
}
