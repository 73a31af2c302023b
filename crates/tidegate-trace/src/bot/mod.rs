//! The composite's lines: those of its gates, each under its gate's name.

mod input;
mod output;
mod settings;

#[cfg(test)]
mod tests;

use serde_json::{Map, Value};
use tidegate_core::bot::{Bot, BotInput, BotOutput};
use tidegate_core::governor::Input as Write;

use self::settings::Opening;
use super::{driver, governor};

/// Reads a governor's lines as the governor alone does; all others stand for themselves.
pub(super) struct Codec {
    governor: governor::Codec,
    opening: Opening,
}

impl driver::Codec for Codec {
    type Gate = Bot<Value>;
    type Input = input::Line;
    type Output = output::Line;

    fn create(settings: Map<String, Value>) -> Result<(Self, Bot<Value>), String> {
        let (opening, gateway, (codec, governor)) = settings::read(settings)?;
        Ok((Self { governor: codec, opening }, Bot { gateway, governor }))
    }

    fn decode(&mut self, line: input::Line) -> Result<BotInput<Value>, String> {
        line.into_input(&mut self.governor, &self.opening)
    }

    fn check(&self, bot: &Bot<Value>, input: &BotInput<Value>) -> Result<(), String> {
        match input {
            BotInput::Governor(input) => {
                self.governor.check(&bot.governor, input).map_err(|reason| format!("governor: {reason}"))
            }
            BotInput::Gateway(_) | BotInput::Tick => Ok(()),
        }
    }

    fn after_timeout(&self, input: &BotInput<Value>) -> bool {
        match input {
            BotInput::Governor(input) => matches!(input, Write::Write(_)),
            BotInput::Gateway(_) | BotInput::Tick => true,
        }
    }

    fn encode(&self, output: BotOutput<Value>) -> output::Line {
        output.into()
    }
}

/// A line of outcome for what the composite said.
pub(super) fn output_line(output: BotOutput<Value>) -> output::Line {
    output.into()
}
