// A bot on @discordjs/rest that is told its calls.
'use strict';

const { REST } = require('@discordjs/rest');
const { serve } = require('./serve.cjs');

const [base, token, headers] = [process.argv[2], process.argv[3], JSON.parse(process.argv[4] || '{}')];
const rest = new REST({ version: '10', api: `${base}/api`, headers }).setToken(token);

const messages = (channel) => `/channels/${channel}/messages`;
const reaction = (channel, message, emoji) =>
  `${messages(channel)}/${message}/reactions/${encodeURIComponent(emoji)}/@me`;

const calls = {
  login: () => rest.setToken(token).get('/users/@me'),
  send: ({ channel, text }, signal) => rest.post(messages(channel), { body: { content: text }, signal }),
  edit: ({ channel, message, text }) => rest.patch(`${messages(channel)}/${message}`, { body: { content: text } }),
  delete: ({ channel, message }) => rest.delete(`${messages(channel)}/${message}`),
  react: ({ channel, message, emoji }) => rest.put(reaction(channel, message, emoji)),
  unreact: ({ channel, message, emoji }) => rest.delete(reaction(channel, message, emoji)),
  upload: ({ channel, text, name, content }) =>
    rest.post(messages(channel), { body: { content: text }, files: [{ name, data: Buffer.from(content, 'base64') }] }),
  callback: ({ interaction, token: own }) =>
    rest.post(`/interactions/${interaction}/${own}/callback`, { body: { type: 5 }, auth: false }),
};

// What a call without an answer's body gives is an empty buffer.
const plain = (answer) => (answer instanceof ArrayBuffer ? null : answer);

serve(
  async (call, args, signal) => plain(await calls[call](args, signal)),
  (error) => ({ status: error.status }),
);
