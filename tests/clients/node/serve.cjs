// A bot that is told its calls: one JSON object a line on standard input, one answer a line on standard output.
//   {"id":1,"call":"sendMessage","args":{...}}   {"id":1,"ok":...} | {"id":1,"error":"...","retry_after":5}
//   {"leave":1}                                  aborts call 1, as a bot does through an AbortSignal
'use strict';

const readline = require('node:readline');

const write = (answer) => process.stdout.write(`${JSON.stringify(answer)}\n`);

// `run` makes a call; `told` says what an error tells besides its text.
exports.serve = (run, told) => {
  const running = new Map();

  async function take({ id, call, args }) {
    const leave = new AbortController();
    running.set(id, leave);
    try {
      write({ id, ok: await run(call, args, leave.signal) });
    } catch (error) {
      write({ id, error: String(error), ...told(error) });
    } finally {
      running.delete(id);
    }
  }

  readline.createInterface({ input: process.stdin }).on('line', (line) => {
    const asked = JSON.parse(line);
    if (asked.leave !== undefined) running.get(asked.leave)?.abort();
    else void take(asked);
  }).on('close', () => process.exit(0));
};
