import { createServer, type IncomingMessage } from "node:http";
import { DatabaseSync } from "node:sqlite";
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { watchBlocks } from "./blocks.ts";

/**
 * What bounds a controller: `node limits.ts hono DATABASE PORT` answers with one device that it has in memory,
 * `node limits.ts update DATABASE PORT` moves the devices of a request with one durable statement, and that is all.
 */
const [, , kind = "", file = "", port = ""] = process.argv;
const prefix = "/-net/api/v0";
const address = { hostname: "127.0.0.1", port: Number(port) };
const database = new DatabaseSync(file);
database.exec("pragma journal_mode = wal; pragma synchronous = full");
if (kind === "hono") answerFromMemory();
else answerFromStatement();
watchBlocks(async () => database.close());

function answerFromMemory(): void {
  const device = { ...database.prepare("select * from devices limit 1").get() };
  const app = new Hono().get(`${prefix}/device/:id`, (context) => context.json(device));
  serve({ fetch: app.fetch, ...address });
}

function answerFromStatement(): void {
  const update = database.prepare(`
    update devices set state = given.state, version = version + 1
    from (select value ->> 'id' as id, value ->> 'state' as state from json_each(?, '$.devices')) as given
    where devices.id = given.id`);
  createServer(async (request, response) => {
    const { changes } = update.run(await textOf(request));
    response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify({ changed: changes }));
  }).listen(address.port, address.hostname);
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}
