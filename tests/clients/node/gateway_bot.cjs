// A bot on the Gateway: tells what its library shows it, one JSON object a line, and does what it is told.
//   gateway_bot.cjs LIBRARY BASE TOKEN OPTIONS
'use strict';

const readline = require('node:readline');

const [library, base, token, options] = [...process.argv.slice(2, 5), JSON.parse(process.argv[5] || '{}')];

const tell = (what) => process.stdout.write(`${JSON.stringify(what)}\n`);
const sent = (message) => ({ event: 'message', text: message.content, channel: message.channelID ?? message.channelId });

const libraries = {
  // discord.js: one base address; the Gateway's comes from GET /gateway/bot.
  'discord.js': () => {
    const { Client, GatewayIntentBits, Events } = require('discord.js');
    const { Guilds, GuildMembers, GuildMessages, MessageContent } = GatewayIntentBits;
    const client = new Client({
      intents: [Guilds, GuildMessages, MessageContent, ...(options.members ? [GuildMembers] : [])],
      rest: { api: `${base}/api` },
      shards: options.shards ?? [0],
      shardCount: options.count ?? 1,
    });
    client.on(Events.ShardReady, (shard) => tell({ event: 'ready', shard }));
    client.on(Events.ShardResume, (shard, replayed) => tell({ event: 'resumed', shard, replayed }));
    client.on(Events.ShardReconnecting, (shard) => tell({ event: 'reconnecting', shard }));
    client.on(Events.ShardDisconnect, ({ code }, shard) => tell({ event: 'disconnect', shard, code }));
    client.on(Events.ShardError, (error, shard) => tell({ event: 'error', shard, text: String(error) }));
    client.on(Events.Invalidated, () => tell({ event: 'invalidated' }));
    client.on(Events.MessageCreate, (message) => tell(sent(message)));
    client.on(Events.Raw, ({ t, s }, shard) => s == null || tell({ event: 'raw', t, s, shard }));
    return {
      start: () => client.login(token),
      presence: (name) => client.user.setPresence({ activities: [{ name }] }),
      members: async () => {
        const members = await client.guilds.cache.first().members.fetch({ query: 'a', limit: 1 });
        tell({ event: 'members', count: members.size });
      },
      drop: () => Promise.all([...client.ws.shards.keys()].map((id) => drop(client, id))),
      end: () => client.destroy(),
    };
  },
  'oceanic.js': () => {
    const { Client } = require('oceanic.js');
    const client = new Client({
      auth: `Bot ${token}`,
      rest: { baseURL: `${base}/api/v10` },
      gateway: {
        intents: ['GUILDS', 'GUILD_MESSAGES', 'MESSAGE_CONTENT', ...(options.members ? ['GUILD_MEMBERS'] : [])],
        autoReconnect: true,
        ...(options.compress ? { compress: options.compress } : {}),
        shardIDs: options.shards ?? [0],
        maxShards: options.count ?? 1,
      },
    });
    client.on('shardReady', (shard) => tell({ event: 'ready', shard }));
    client.on('shardResume', (shard) => tell({ event: 'resumed', shard }));
    client.on('shardDisconnect', (error, shard) => tell({ event: 'disconnect', shard, text: String(error) }));
    client.on('error', (error, shard) => tell({ event: 'error', shard, text: String(error) }));
    client.on('messageCreate', (message) => tell(sent(message)));
    client.on('packet', ({ t, s }, shard) => s == null || tell({ event: 'raw', t, s, shard }));
    return {
      start: () => client.connect(),
      presence: (name) => client.editStatus('online', [{ name, type: 0 }]),
      members: async () => {
        const members = await client.guilds.toArray()[0].fetchMembers({ query: 'a', limit: 1 });
        tell({ event: 'members', count: members.length });
      },
      drop: () => client.shards.forEach((shard) => shard.ws.terminate()),
      end: () => client.disconnect(false),
    };
  },
};

// The library has no call that loses a connection, so its socket is cut from below.
async function drop(client, id) {
  client.ws._ws.strategy.shards.get(id).connection.terminate();
}

const bot = libraries[library]();
const tried = async (what) => {
  try {
    await what();
  } catch (error) {
    tell({ event: 'failed', text: String(error), code: error.code ?? null });
  }
};

process.on('unhandledRejection', (error) => tell({ event: 'unhandled', text: String(error) }));
readline
  .createInterface({ input: process.stdin })
  .on('line', (line) => {
    const { call, argument } = JSON.parse(line);
    void tried(() => bot[call](argument));
  })
  .on('close', () => process.exit(0));
void tried(bot.start);
