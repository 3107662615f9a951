// SPDX-License-Identifier: MIT OR Apache-2.0
//! `sunseal-server serve` and `sunseal-server gateway`.
//!
//! Both print one JSON line, `{"listening":"127.0.0.1:PORT"}`, when they take connections, and
//! end in order at Ctrl-C or SIGTERM. Wrong input: one sentence on standard error, exit 2.

use std::future::Future;
use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::error::ErrorKind;
use clap::{Parser, Subcommand, ValueEnum};
use serde_json::json;
use sunseal_server::api::{self, App};
use sunseal_server::client::Server;
use sunseal_server::clock::Clock;
use sunseal_server::gateway::{Gateway, Options};
use sunseal_server::judge::Rules;
use sunseal_server::{log, serve, store};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

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
    /// A name, besides addresses and localhost, under which requests come (a proxy's); repeatable
    #[arg(long)]
    host: Vec<String>,
    /// Keep single requests out of the log on standard error
    #[arg(long)]
    quiet: bool,
}

#[derive(clap::Args)]
struct GatewayArguments {
    /// Address and port to listen on for radios; port 0 picks a free one
    #[arg(long, default_value = "127.0.0.1:8438")]
    listen: SocketAddr,
    /// The server, as http://HOST:PORT
    #[arg(long)]
    server: String,
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
    }
}

async fn server(arguments: ServeArguments) -> Result<(), String> {
    if arguments.seed.is_some() && arguments.clock != ClockKind::Driven {
        return Err("--seed makes challenges that anybody can foretell; it is only taken together with --clock driven".into());
    }
    // The port first: a second start of the same server must not touch the first one's file.
    let listener = bind(arguments.listen).await?;
    let db = store::open(&arguments.db).map_err(|e| e.to_string())?;
    let reader = store::reader(&arguments.db).map_err(|e| e.to_string())?;
    let clock = match arguments.clock {
        ClockKind::System => Clock::System,
        ClockKind::Driven => {
            Clock::driven(store::latest_us(&db).map_err(|e| format!("the event log fails: {e}"))?)
        }
    };
    let rules = Rules { freshness_us: arguments.freshness_s * 1_000_000, seed: arguments.seed };
    if let Some(seed) = arguments.seed {
        let why = "INSECURE: challenges follow from the seed; for tests and demonstrations only";
        log::warn("seed", json!({"seed": seed, "why": why}));
    }
    if !arguments.listen.ip().is_loopback() {
        let why = "this server speaks plain HTTP and asks nobody who he is: put it behind a proxy that does both";
        log::warn("listen", json!({"address": arguments.listen.to_string(), "why": why}));
    }
    let app = App::new((db, reader), clock, rules, arguments.host, arguments.quiet);
    let router = api::router(Arc::clone(&app));
    let end = end_asked()?;
    announce(&listener)?;
    serve::serve(listener, router, end).await;
    app.close();
    let db = arguments.db.display().to_string();
    let why = format!("stopped; everything is in {db}: start again with the same --db to go on");
    log::info("server-ends", json!({"why": why}));
    Ok(())
}

async fn gateway(arguments: GatewayArguments) -> Result<(), String> {
    if !(0.0..=1.0).contains(&arguments.drop_rate) {
        return Err(format!("--drop-rate {} is not in 0 .. 1", arguments.drop_rate));
    }
    let server = Server::parse(&arguments.server)?;
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
    announce(&listener)?;
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

/// Says where connections are taken, for whoever started this program.
fn announce(listener: &TcpListener) -> Result<(), String> {
    let address = listener.local_addr().map_err(|e| e.to_string())?;
    let line = json!({"listening": address.to_string()});
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
