// SPDX-License-Identifier: MIT OR Apache-2.0
//! `sunseal-server serve`, `gateway` and `token`.
//!
//! The first two print one JSON line, `{"listening":"127.0.0.1:PORT"}`, when they take
//! connections, and end in order at Ctrl-C or SIGTERM. The server's first start on a database adds
//! `tokens_file`, the file of mode 0600 that has the first tokens. Wrong input: one sentence on standard error, exit 2.

use std::future::Future;
use std::io::Write;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use clap::error::ErrorKind;
use clap::{Parser, Subcommand, ValueEnum};
use rusqlite::Connection;
use serde_json::{Value, json};
use sunseal_server::api::{self, App, Settings};
use sunseal_server::client::Server;
use sunseal_server::clock::Clock;
use sunseal_server::gateway::{Gateway, Options};
use sunseal_server::judge::Rules;
use sunseal_server::store::pruning;
use sunseal_server::tokens::{self, Role};
use sunseal_server::{log, private, serve, store, tls};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

const DAY_US: u64 = 86_400_000_000;

/// Verifies what energy-harvesting nodes sign.
#[derive(Parser)]
#[command(name = "sunseal-server", version, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Enrols nodes, challenges them when they show themselves, verifies and keeps the log.
    Serve(ServeArguments),
    /// Carries frames between a radio and the server.
    Gateway(GatewayArguments),
    /// Makes, lists or ends tokens in the server's database; a server that runs on it may run on.
    Token(TokenArguments),
    /// Deletes old events from the server's database; a server that runs on it may run on.
    Prune(PruneArguments),
    /// Copies the server's database, whole, into a new file; a server that runs on it may run on.
    Backup(BackupArguments),
    /// Makes a server's database of a backup; none may be there.
    Restore(RestoreArguments),
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ClockKind {
    System,
    Driven,
}

#[derive(clap::Args)]
struct ServeArguments {
    /// Address and port to listen on; port 0 picks a free one
    #[arg(long, default_value = "127.0.0.1:8437")]
    listen: SocketAddr,
    /// The SQLite file, made if it is not there
    #[arg(long)]
    db: PathBuf,
    /// Where time comes from: the system, or the header Sunseal-Time-Us (simulations)
    #[arg(long, value_enum, default_value = "system")]
    clock: ClockKind,
    /// Tests and demonstrations only: challenges that anybody can foretell
    #[arg(long)]
    seed: Option<u64>,
    /// Seconds for which a challenge may be answered
    #[arg(long, default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..=31_536_000))]
    freshness_s: u64,
    /// Let whoever reaches the port be the operator; only on a loopback address, for demonstrations
    #[arg(long)]
    open: bool,
    /// The server's certificate as PEM, with those between it and its authority's: it then speaks TLS 1.3
    #[arg(long, requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// Private key of that certificate, PEM, not encrypted
    #[arg(long, requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Authority, PEM, by which callers must prove who they are (mutual TLS)
    #[arg(long, requires = "tls_cert")]
    tls_client_ca: Option<PathBuf>,
    /// Address of a proxy whose X-Forwarded-For is believed; repeatable
    #[arg(long, value_name = "ADDRESS")]
    trusted_proxy: Vec<IpAddr>,
    /// A name, besides addresses and localhost, under which requests come (a proxy's); repeatable
    #[arg(long)]
    host: Vec<String>,
    /// Requests a second that one token may make, 0 for any; 1000, or any with --clock driven
    #[arg(long)]
    rate_token: Option<u32>,
    /// Requests a second that one address may make, 0 for any; 4000, or any with --clock driven
    #[arg(long)]
    rate_address: Option<u32>,
    /// Keep events of so many days, and delete older ones every hour; all, unless told
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=36_500))]
    keep_days: Option<u64>,
    /// Keep single requests out of the log on standard error
    #[arg(long)]
    quiet: bool,
}

#[derive(clap::Args)]
struct BackupArguments {
    /// The server's SQLite file
    #[arg(long)]
    db: PathBuf,
    /// The file to make, of mode 0600
    #[arg(long)]
    to: PathBuf,
}

#[derive(clap::Args)]
struct RestoreArguments {
    /// The backup, as `sunseal-server backup` wrote it
    #[arg(long)]
    from: PathBuf,
    /// The SQLite file to make, of mode 0600
    #[arg(long)]
    db: PathBuf,
}

#[derive(clap::Args)]
struct PruneArguments {
    /// The server's SQLite file
    #[arg(long)]
    db: PathBuf,
    /// Keep events of so many days
    #[arg(long, value_parser = clap::value_parser!(u64).range(0..=36_500))]
    keep_days: u64,
}

#[derive(clap::Args)]
struct GatewayArguments {
    /// Address and port to listen on for radios; port 0 picks a free one
    #[arg(long, default_value = "127.0.0.1:8438")]
    listen: SocketAddr,
    /// The server, as http://HOST:PORT or https://HOST:PORT
    #[arg(long)]
    server: String,
    /// Authority of an https:// server, PEM; the system's, unless told
    #[arg(long)]
    ca: Option<PathBuf>,
    /// This gateway's certificate for mutual TLS, PEM
    #[arg(long, requires = "key")]
    cert: Option<PathBuf>,
    /// Private key of that certificate, PEM, not encrypted
    #[arg(long, requires = "cert")]
    key: Option<PathBuf>,
    /// A file with a gateway's token; without it, the environment's SUNSEAL_TOKEN is taken
    #[arg(long)]
    token_file: Option<PathBuf>,
    /// Where to write what was on the air, for Wireshark; an older file is replaced
    #[arg(long)]
    pcap: Option<PathBuf>,
    /// Microseconds from the end of a packet to the start of the gateway's next one
    #[arg(long, default_value_t = 2000, value_parser = clap::value_parser!(u32).range(..=10_000_000))]
    turnaround_us: u32,
    /// Share of packets to lose on the air, each way, 0 to 1
    #[arg(long, default_value_t = 0.0)]
    drop_rate: f64,
    /// Which packets to lose: the same seed loses the same ones
    #[arg(long, default_value_t = 0)]
    drop_seed: u64,
    /// Keep single messages out of the log on standard error
    #[arg(long)]
    quiet: bool,
}

#[derive(clap::Args)]
struct TokenArguments {
    /// The server's SQLite file
    #[arg(long)]
    db: PathBuf,
    /// Make a token of this role (operator, read, challenge, enrol, gateway) and print it, this once
    #[arg(long, value_parser = role_of, conflicts_with = "revoke")]
    role: Option<Role>,
    /// What to call the new token in the list
    #[arg(long, default_value = "", requires = "role")]
    name: String,
    /// Days after which the new token ends by itself; never, unless told
    #[arg(long, requires = "role", value_parser = clap::value_parser!(u64).range(1..=36_500))]
    days: Option<u64>,
    /// End the token of this number
    #[arg(long, value_name = "TOKEN_ID")]
    revoke: Option<i64>,
}

fn role_of(name: &str) -> Result<Role, String> {
    let roles = || format!("a role is {}", Role::ALL.map(Role::name).join(", "));
    Role::from_name(name).ok_or_else(roles)
}

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(e)
            if e.use_stderr()
                && e.kind() != ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand =>
        {
            eprintln!("{}", one_sentence(&e.to_string()));
            return ExitCode::from(2);
        }
        // Help and version are no errors.
        Err(e) => e.exit(),
    };
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let done = match runtime {
        Ok(runtime) => runtime.block_on(run(arguments.command)),
        Err(e) => Err(format!("the system gives no threads or sockets: {e}")),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("error: {why}");
            ExitCode::from(2)
        }
    }
}

/// clap's explanation without its lines about usage.
fn one_sentence(explained: &str) -> String {
    let said = explained.lines().map(str::trim).take_while(|line| !line.starts_with("Usage:"));
    let said: Vec<&str> =
        said.filter(|line| !line.is_empty() && !line.starts_with("For more information")).collect();
    said.join(" ") + " (sunseal-server --help tells what there is)"
}

async fn run(command: Command) -> Result<(), String> {
    match command {
        Command::Serve(arguments) => server(arguments).await,
        Command::Gateway(arguments) => gateway(arguments).await,
        Command::Token(arguments) => token(&arguments),
        Command::Prune(arguments) => prune(&arguments),
        Command::Backup(arguments) => backup(&arguments),
        Command::Restore(arguments) => restore(&arguments),
    }
}

async fn server(arguments: ServeArguments) -> Result<(), String> {
    if arguments.seed.is_some() && arguments.clock != ClockKind::Driven {
        return Err("--seed makes challenges that anybody can foretell; it is only taken together with --clock driven".into());
    }
    let loopback = arguments.listen.ip().is_loopback();
    if arguments.open && !loopback {
        return Err(format!(
            "--open makes an operator of whoever reaches the port; it is only taken on a loopback address, not on {}",
            arguments.listen
        ));
    }
    let acceptor = match (&arguments.tls_cert, &arguments.tls_key) {
        (Some(cert), Some(key)) => {
            let pair = tls::Pair { cert, key };
            Some(tls::server(pair, arguments.tls_client_ca.as_deref())?.into())
        }
        _ => None,
    };
    // A gateway that waits holds a connection, and so a descriptor: as many as the system lets this process have.
    if let Err(e) = rlimit::increase_nofile_limit(u64::MAX) {
        log::warn("descriptors", json!({"why": format!("their limit cannot be raised ({e})")}));
    }
    // The port first: a second start of the same server must not touch the first one's file.
    let listener = bind(arguments.listen).await?;
    let db = store::open(&arguments.db).map_err(|e| e.to_string())?;
    let fails = |e: rusqlite::Error| format!("the database fails: {e}");
    let clock = match arguments.clock {
        ClockKind::System => Clock::System,
        ClockKind::Driven => Clock::driven(store::latest_us(&db).map_err(fails)?),
    };
    let mut told = json!({});
    if arguments.open {
        let why = "OPEN: whoever reaches this port is the operator; for demonstrations only";
        log::warn("open", json!({"why": why}));
    } else {
        told = first_tokens(&db, &arguments.db, clock.now_us(None))?;
    }
    let rules = Rules { freshness_us: arguments.freshness_s * 1_000_000, seed: arguments.seed };
    if let Some(seed) = arguments.seed {
        let why = "INSECURE: challenges follow from the seed; for tests and demonstrations only";
        log::warn("seed", json!({"seed": seed, "why": why}));
    }
    if !loopback && acceptor.is_none() {
        let why = "this server speaks plain HTTP, and tokens can be read on the way: give it --tls-cert and --tls-key";
        log::warn("listen", json!({"address": arguments.listen.to_string(), "why": why}));
    }
    // A simulation's requests come as fast as it runs.
    let unless_driven = |rate| if arguments.clock == ClockKind::Driven { 0 } else { rate };
    let settings = Settings {
        hosts: arguments.host,
        open: arguments.open,
        quiet: arguments.quiet,
        trusted_proxies: arguments.trusted_proxy,
        rate_token: arguments.rate_token.unwrap_or(unless_driven(1_000)),
        rate_address: arguments.rate_address.unwrap_or(unless_driven(4_000)),
    };
    let app = App::new(db, arguments.db.clone(), clock, rules, settings);
    let router = api::router(Arc::clone(&app));
    let end = end_asked()?;
    if let Some(days) = arguments.keep_days {
        tokio::spawn(Arc::clone(&app).prune(days * DAY_US));
    }
    announce(&listener, told)?;
    serve::serve(listener, acceptor, router, end).await;
    app.close();
    let db = arguments.db.display().to_string();
    let why = format!("stopped; everything is in {db}: start again with the same --db to go on");
    log::info("server-ends", json!({"why": why}));
    Ok(())
}

/// At the first start on a database: a token for the operator and one for gateways, in a file of mode 0600 beside it.
/// Standard output may be a journal that others read.
fn first_tokens(db: &Connection, path: &Path, now_us: u64) -> Result<Value, String> {
    let fails = |e: rusqlite::Error| format!("the database fails: {e}");
    let tx = db.unchecked_transaction().map_err(fails)?;
    if tokens::any(&tx, Role::Operator).map_err(fails)? {
        return Ok(json!({}));
    }
    let made = |role| tokens::make(&tx, now_us, role, "first start").map_err(fails);
    let (operator, gateway) = (made(Role::Operator)?, made(Role::Gateway)?);
    let file = store::with_suffix(path, ".tokens");
    let text =
        json!({"operator_token": operator["token"], "gateway_token": gateway["token"]}).to_string();
    let shown = file.display().to_string();
    private::write(&file, &(text + "\n")).map_err(|e| {
        format!(
            "the first tokens go to `{shown}`, which cannot be made ({e}): move away what is there, or name another database with --db; nothing was changed"
        )
    })?;
    if let Err(e) = tx.commit() {
        let _ = std::fs::remove_file(&file);
        return Err(fails(e));
    }
    let why = format!(
        "the tokens of operator and gateway stand in `{shown}`, which only its owner may read: put them where they are used \
         and delete the file; `sunseal-server token` makes others"
    );
    log::info("tokens", json!({"why": why}));
    Ok(json!({"tokens_file": shown}))
}

/// Opens a database that is there: a slip of the pen makes none.
fn existing(path: &Path) -> Result<Connection, String> {
    if !path.exists() {
        let shown = path.display();
        return Err(format!(
            "there is no database `{shown}`: name the server's with --db; `sunseal-server serve --db {shown}` makes a new one"
        ));
    }
    store::open(path).map_err(|e| e.to_string())
}

fn prune(arguments: &PruneArguments) -> Result<(), String> {
    let db = existing(&arguments.db)?;
    let fails =
        |e: rusqlite::Error| format!("the database `{}` fails: {e}", arguments.db.display());
    let now_us = Clock::System.now_us(None);
    let before_us = now_us.saturating_sub(arguments.keep_days * DAY_US);
    let marked = || {
        let tx = db.unchecked_transaction()?;
        let rows = pruning::mark(&tx, now_us, before_us)?;
        tx.commit()?;
        while pruning::cut(&db)? {}
        pruning::shrink(&db)?;
        db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
        Ok(rows)
    };
    let rows: u64 = marked().map_err(fails)?;
    writeln!(std::io::stdout(), "{}", json!({"pruned": rows}))
        .map_err(|e| format!("standard output takes no line ({e})"))
}

fn backup(arguments: &BackupArguments) -> Result<(), String> {
    let db = existing(&arguments.db)?;
    let to = arguments.to.display().to_string();
    store::copy_into(&db, &arguments.to).map_err(|why| {
        format!("the backup `{to}` cannot be made ({why}): name a new file in a folder that can be written, with --to")
    })?;
    let bytes = std::fs::metadata(&arguments.to).map_or(0, |file| file.len());
    writeln!(std::io::stdout(), "{}", json!({"backup": to, "bytes": bytes}))
        .map_err(|e| format!("standard output takes no line ({e})"))
}

fn restore(arguments: &RestoreArguments) -> Result<(), String> {
    let shown = arguments.db.display();
    for suffix in ["", "-wal", "-shm"] {
        let there = store::with_suffix(&arguments.db, suffix);
        if there.exists() {
            let there = there.display();
            return Err(format!(
                "`{there}` is there: stop the server, move it away, and restore again; nothing was changed"
            ));
        }
    }
    let backup = store::reader_of_ours(&arguments.from).map_err(|e| e.to_string())?;
    store::copy_into(&backup, &arguments.db)
        .map_err(|why| format!("the database `{shown}` cannot be made ({why}): name a file in a folder that can be written, with --db"))?;
    let db = store::open(&arguments.db).map_err(|e| e.to_string())?;
    let fails = |e: rusqlite::Error| format!("the database `{shown}` fails: {e}");
    let latest_us = store::latest_us(&db).map_err(fails)?;
    let now_us = Clock::System.now_us(None);
    store::audit(&db, now_us, "restored", false, json!({"to_us": latest_us})).map_err(fails)?;
    let told = json!({"restored": shown.to_string(), "latest_event_us": latest_us});
    writeln!(std::io::stdout(), "{told}")
        .map_err(|e| format!("standard output takes no line ({e})"))
}

fn token(arguments: &TokenArguments) -> Result<(), String> {
    api::plain("name", &arguments.name)?;
    let db = existing(&arguments.db)?;
    let now_us = Clock::System.now_us(None);
    let said = match (arguments.role, arguments.revoke) {
        (Some(role), _) => {
            let expires_us = arguments.days.map(|days| now_us + days * DAY_US);
            tokens::make_until(&db, now_us, role, &arguments.name, expires_us)
        }
        (None, Some(token_id)) => {
            let revoked = tokens::revoke(&db, now_us, token_id);
            if matches!(revoked, Ok(false)) {
                return Err(format!("no token {token_id} holds: without --revoke all are listed"));
            }
            revoked.map(|_| json!({"token_id": token_id, "state": "revoked"}))
        }
        (None, None) => tokens::list(&db).map(|tokens| json!({"tokens": tokens})),
    };
    let said = said.map_err(|e| format!("the database `{}` fails: {e}", arguments.db.display()))?;
    writeln!(std::io::stdout(), "{said}")
        .map_err(|e| format!("standard output takes no line ({e})"))
}

/// The gateway's token: from its file, or from the environment.
fn token_for_gateway(file: Option<&Path>) -> Result<Option<String>, String> {
    let Some(file) = file else { return Ok(std::env::var("SUNSEAL_TOKEN").ok()) };
    let text = std::fs::read_to_string(file).map_err(|e| {
        format!(
            "the token file `{}` cannot be read ({e}): name a file that holds a token",
            file.display()
        )
    })?;
    let token = text.trim();
    if token.is_empty() {
        return Err(format!(
            "the token file `{}` is empty: name a file that holds a token",
            file.display()
        ));
    }
    Ok(Some(token.to_owned()))
}

async fn gateway(arguments: GatewayArguments) -> Result<(), String> {
    if !(0.0..=1.0).contains(&arguments.drop_rate) {
        return Err(format!("--drop-rate {} is not in 0 .. 1", arguments.drop_rate));
    }
    let pair = arguments.cert.as_deref().zip(arguments.key.as_deref());
    let pair = pair.map(|(cert, key)| tls::Pair { cert, key });
    let mut server =
        Server::parse_with(&arguments.server, || tls::client(arguments.ca.as_deref(), pair))?;
    if let Some(token) = token_for_gateway(arguments.token_file.as_deref())? {
        server = server.with_token(&token)?;
    }
    let listener = bind(arguments.listen).await?;
    let gateway = Gateway::new(Options {
        server,
        pcap: arguments.pcap,
        turnaround_us: arguments.turnaround_us,
        drop_rate: arguments.drop_rate,
        drop_seed: arguments.drop_seed,
        quiet: arguments.quiet,
    })?;
    let end = end_asked()?;
    announce(&listener, json!({}))?;
    tokio::select! {
        never = Arc::clone(&gateway).serve(listener) => match never {},
        () = end => {}
    }
    gateway.close();
    Ok(())
}

async fn bind(address: SocketAddr) -> Result<TcpListener, String> {
    TcpListener::bind(address).await.map_err(|e| match e.kind() {
        std::io::ErrorKind::AddrInUse => format!(
            "{address} is in use by another program: stop it, or give another port with --listen (port 0 picks a free one)"
        ),
        _ => format!("{address} cannot be listened on ({e}): give an address of this machine with --listen"),
    })
}

/// Says where connections are taken, and what else there is to tell, to whoever started this
/// program.
fn announce(listener: &TcpListener, mut line: Value) -> Result<(), String> {
    let address = listener.local_addr().map_err(|e| e.to_string())?;
    line["listening"] = address.to_string().into();
    writeln!(std::io::stdout(), "{line}").map_err(|e| {
        format!("standard output takes no line ({e}): leave it open, the address goes there")
    })
}

/// Resolves at Ctrl-C or SIGTERM.
fn end_asked() -> Result<impl Future<Output = ()>, String> {
    let told = |e| format!("the system gives no signals: {e}");
    let mut interrupt = signal(SignalKind::interrupt()).map_err(told)?;
    let mut terminate = signal(SignalKind::terminate()).map_err(told)?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}
