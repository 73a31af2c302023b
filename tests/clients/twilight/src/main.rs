//! A bot on twilight-http that is told its calls: one JSON object a line on standard input, one answer a line on standard
//! output, as the Node programs beside it do. The library runs at every default; only its address is set.

use std::collections::HashMap;
use std::sync::Arc;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::sync::mpsc;
use tokio::task::AbortHandle;
use twilight_http::Client;
use twilight_http::error::{Error, ErrorType};
use twilight_http::request::channel::reaction::RequestReactionType;
use twilight_model::http::attachment::Attachment;
use twilight_model::http::interaction::{InteractionResponse, InteractionResponseType};
use twilight_model::id::Id;

type Failure = Box<dyn std::error::Error + Send + Sync>;

struct Bot {
    address: String,
    token: String,
    client: Client,
}

impl Bot {
    fn new(base: &str, token: &str) -> Self {
        let address = base.trim_start_matches("http://").to_owned();
        let client = connect(&address, token);
        Self { address, token: token.to_owned(), client }
    }

    async fn run(&self, call: &str, args: &Value) -> Result<Value, Failure> {
        let client = &self.client;
        match call {
            // A client of its own, as a process has that starts: one that met a 401 sends nothing more.
            "login" => {
                connect(&self.address, &self.token).current_user().await?.model().await?;
            }
            "send" => {
                let sent = client.create_message(id(args, "channel")).content(text(args, "text")).await?;
                return Ok(json!({ "id": sent.model().await?.id }));
            }
            "upload" => {
                let content = BASE64_STANDARD.decode(text(args, "content"))?;
                let file = [Attachment::from_bytes(text(args, "name").to_owned(), content, 1)];
                let call = client.create_message(id(args, "channel")).content(text(args, "text")).attachments(&file);
                return Ok(json!({ "id": call.await?.model().await?.id }));
            }
            "edit" => {
                let call = client.update_message(id(args, "channel"), id(args, "message"));
                call.content(Some(text(args, "text"))).await?.model().await?;
            }
            "delete" => {
                client.delete_message(id(args, "channel"), id(args, "message")).await?;
            }
            "react" => {
                client.create_reaction(id(args, "channel"), id(args, "message"), &emoji(args)).await?;
            }
            "unreact" => {
                client.delete_current_user_reaction(id(args, "channel"), id(args, "message"), &emoji(args)).await?;
            }
            "callback" => {
                let kind = InteractionResponseType::DeferredChannelMessageWithSource;
                let answer = InteractionResponse { kind, data: None };
                let interactions = client.interaction(Id::new(1));
                interactions.create_response(id(args, "interaction"), text(args, "token"), &answer).await?;
            }
            _ => return Err(format!("no call is named {call}").into()),
        }
        Ok(Value::Null)
    }
}

fn connect(address: &str, token: &str) -> Client {
    Client::builder().token(token.to_owned()).proxy(address.to_owned(), true).build()
}

fn text<'a>(args: &'a Value, name: &str) -> &'a str {
    args[name].as_str().unwrap_or_default()
}

fn id<T>(args: &Value, name: &str) -> Id<T> {
    Id::new(text(args, name).parse().expect("an id"))
}

fn emoji(args: &Value) -> RequestReactionType<'_> {
    match text(args, "emoji").split_once(':') {
        Some((name, id)) => RequestReactionType::Custom { id: Id::new(id.parse().expect("an id")), name: Some(name) },
        None => RequestReactionType::Unicode { name: text(args, "emoji") },
    }
}

fn told(error: &Failure) -> Value {
    let status = error.downcast_ref::<Error>().and_then(|error| match error.kind() {
        ErrorType::Response { status, .. } => Some(status.get()),
        ErrorType::Unauthorized => Some(401),
        _ => None,
    });
    json!({ "error": format!("{error} ({error:?})"), "status": status })
}

async fn serve(bot: Arc<Bot>) -> Result<(), Failure> {
    let (answers, mut written) = mpsc::unbounded_channel::<Value>();
    let writer = tokio::spawn(async move {
        let mut output = tokio::io::stdout();
        while let Some(answer) = written.recv().await {
            output.write_all(format!("{answer}\n").as_bytes()).await?;
            output.flush().await?;
        }
        Ok::<(), std::io::Error>(())
    });
    let mut running: HashMap<u64, AbortHandle> = HashMap::new();
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    while let Some(line) = lines.next_line().await? {
        let asked: Value = serde_json::from_str(&line)?;
        if let Some(leaving) = asked["leave"].as_u64() {
            if let Some(call) = running.remove(&leaving) {
                call.abort();
            }
            continue;
        }
        let number = asked["id"].as_u64().ok_or("a call has a number")?;
        let (bot, answers) = (Arc::clone(&bot), answers.clone());
        let call = tokio::spawn(async move {
            let mut answer = match bot.run(text(&asked, "call"), &asked["args"]).await {
                Ok(ok) => json!({ "ok": ok }),
                Err(error) => told(&error),
            };
            answer["id"] = number.into();
            let _ = answers.send(answer);
        });
        running.insert(number, call.abort_handle());
    }
    for call in running.into_values() {
        call.abort();
    }
    drop(answers);
    writer.await??;
    Ok(())
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, base, token, ..] = arguments.as_slice() else { return Err("usage: twilight-bot BASE TOKEN".into()) };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    // The library starts its limiter where it is built, and needs the runtime for that.
    runtime.block_on(async { serve(Arc::new(Bot::new(base, token))).await })
}
