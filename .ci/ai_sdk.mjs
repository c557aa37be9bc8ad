// Asks the package `ai` about files, a path on each line of stdin: messages, or the events of a stream (.sse).
// usage: node ai_sdk.mjs NODE_MODULES; an answer for each line, as JSON: [path, null, or what is wrong]
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

const require = createRequire(`${process.argv[2]}/x.js`);
const load = name => import(pathToFileURL(require.resolve(name)).href);
const [ai, utils, { z }] = await Promise.all(['ai', '@ai-sdk/provider-utils', 'zod'].map(load));

async function stream(text) {
  const body = new Blob([text]).stream();
  const chunks = utils.parseJsonEventStream({ stream: body, schema: ai.uiMessageChunkSchema });
  const valid = chunks.pipeThrough(
    new TransformStream({
      transform(chunk, controller) {
        if (!chunk.success) throw chunk.error;
        controller.enqueue(chunk.value);
      },
    }),
  );
  let message, failed;
  const onError = error => { failed ??= error; };
  for await (const state of ai.readUIMessageStream({ stream: valid, onError, terminateOnError: false })) message = state;
  if (failed && !text.includes('"type":"error"')) throw failed;
  if (message?.parts.length) await shown([message]);
}

async function shown(messages) {
  const verdict = await ai.safeValidateUIMessages({ messages });
  if (!verdict.success) throw verdict.error;
  await ai.convertToModelMessages(messages);
}

async function messages(document) {
  const natives = Array.isArray(document) ? document : document.messages;
  if (natives.length && natives.every(native => Array.isArray(native.parts))) return shown(natives);
  const verdict = z.array(ai.modelMessageSchema).min(1).safeParse(natives);
  if (!verdict.success) throw new Error(JSON.stringify(verdict.error.issues));
}

for await (const path of createInterface({ input: process.stdin })) {
  let wrong = null;
  try {
    const text = readFileSync(path, 'utf8');
    await (path.endsWith('.sse') ? stream(text) : messages(JSON.parse(text)));
  } catch (error) {
    wrong = String(error.message ?? error).replace(/\s+/g, ' ').slice(-300);
  }
  console.log(JSON.stringify([path, wrong]));
}
