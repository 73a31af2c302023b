// A grammY bot that is told its calls: one JSON object a line on standard input, one answer a line on standard output.
//   {"id":1,"call":"sendMessage","args":{...}}   {"id":1,"ok":...} | {"id":1,"error":"...","retry_after":5}
//   {"leave":1}                                  aborts call 1, as a bot does through an AbortSignal
'use strict';

const readline = require('node:readline');
const { Bot, InputFile } = require('grammy');

const [base, token, headers] = [process.argv[2], process.argv[3], JSON.parse(process.argv[4] || '{}')];
const client = { apiRoot: base };
if (Object.keys(headers).length > 0) {
  const fetch = require('node-fetch');
  client.fetch = (url, init) => fetch(url, { ...init, headers: { ...init.headers, ...headers } });
}
const bot = new Bot(token, { client });
const running = new Map();

const file = (encoded, name) => new InputFile(Buffer.from(encoded, 'base64'), name);

const calls = {
  document: ({ chat, name, content }, signal) => bot.api.sendDocument(chat, file(content, name), {}, signal),
  album: ({ chat, photos }, signal) =>
    bot.api.sendMediaGroup(
      chat,
      photos.map((photo, at) => ({ type: 'photo', media: file(photo, `${at}.png`) })),
      {},
      signal,
    ),
  download: async ({ file_id }, signal) => {
    const { file_path } = await bot.api.getFile(file_id, signal);
    const answer = await fetch(`${base}/file/bot${token}/${file_path}`);
    return Buffer.from(await answer.arrayBuffer()).toString('base64');
  },
};

// A method without arguments takes the signal in their place.
const raw = (call) => (args, signal) =>
  Object.keys(args).length > 0 ? bot.api.raw[call](args, signal) : bot.api.raw[call](signal);

async function take({ id, call, args }) {
  const leave = new AbortController();
  running.set(id, leave);
  try {
    const run = calls[call] ?? raw(call);
    write({ id, ok: await run(args, leave.signal) });
  } catch (error) {
    write({ id, error: String(error), retry_after: error.error_code === 429 ? error.parameters.retry_after : undefined });
  } finally {
    running.delete(id);
  }
}

const write = (answer) => process.stdout.write(`${JSON.stringify(answer)}\n`);

readline.createInterface({ input: process.stdin }).on('line', (line) => {
  const told = JSON.parse(line);
  if (told.leave !== undefined) running.get(told.leave)?.abort();
  else void take(told);
}).on('close', () => process.exit(0));
