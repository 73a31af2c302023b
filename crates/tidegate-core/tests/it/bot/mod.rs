//! The composite: one bot's shards, send queues and identify queue.

mod bounds;
mod cases;
mod sharing;
mod timeline;
