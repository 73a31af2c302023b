// A telegraf bot that is told its calls.
'use strict';

const { Telegraf } = require('telegraf');
const { serve } = require('./serve.cjs');

const [base, token] = [process.argv[2], process.argv[3]];
const { telegram } = new Telegraf(token, { telegram: { apiRoot: base } });

const file = (encoded, filename) => ({ source: Buffer.from(encoded, 'base64'), filename });

const calls = {
  document: ({ chat, name, content }) => telegram.sendDocument(chat, file(content, name)),
  poll: ({ chat, question, options }) => telegram.sendPoll(chat, question, options),
  album: ({ chat, photos }) =>
    telegram.sendMediaGroup(chat, photos.map((photo, at) => ({ type: 'photo', media: file(photo, `${at}.png`) }))),
  download: async ({ file_id }) => {
    const answer = await fetch(await telegram.getFileLink(file_id));
    return Buffer.from(await answer.arrayBuffer()).toString('base64');
  },
};

serve(
  (call, args, signal) => calls[call]?.(args) ?? telegram.callApi(call, args, { signal }),
  (error) => ({ retry_after: error.code === 429 ? error.parameters.retry_after : undefined }),
);
