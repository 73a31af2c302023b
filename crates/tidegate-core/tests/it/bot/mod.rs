//! The composite: one bot's shards, send queues and identify queue.

mod bounds;
mod cases;
mod explore;
mod judge;
mod sharing;
mod timeline;
mod weather;
mod world;
