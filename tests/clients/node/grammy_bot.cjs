// A grammY bot that is told its calls.
'use strict';

const { Bot, InputFile } = require('grammy');
const { serve } = require('./serve.cjs');

const [base, token, headers] = [process.argv[2], process.argv[3], JSON.parse(process.argv[4] || '{}')];
const client = { apiRoot: base };
if (Object.keys(headers).length > 0) {
  const fetch = require('node-fetch');
  client.fetch = (url, init) => fetch(url, { ...init, headers: { ...init.headers, ...headers } });
}
const bot = new Bot(token, { client });

const file = (encoded, name) => new InputFile(Buffer.from(encoded, 'base64'), name);

const calls = {
  document: ({ chat, name, content }, signal) => bot.api.sendDocument(chat, file(content, name), {}, signal),
  poll: ({ chat, question, options }, signal) => bot.api.sendPoll(chat, question, options, {}, signal),
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

serve(
  (call, args, signal) => (calls[call] ?? raw(call))(args, signal),
  (error) => ({ retry_after: error.error_code === 429 ? error.parameters.retry_after : undefined }),
);
