import { settings } from "../../controller/server/controller.ts";
import { openController, serveController } from "../../controller/server/node.ts";
import { watchBlocks } from "./blocks.ts";

/** A controller as a process of its own: `node serve.ts DATABASE PEPPER PORT`. */
const [, , database = "", pepper, port = ""] = process.argv;
const controller = await openController({
  database,
  pepper,
  settings: { ...settings, limits: { key: 0, address: 0, enrol: 0, login: 0 } },
  clock: Date.now,
  log: (message) => void process.stderr.write(`${message}\n`),
});
const server = await serveController(controller, {
  host: "127.0.0.1",
  port: Number(port),
  reusePort: true,
  clock: () => performance.now(),
  log: () => {},
});
watchBlocks(async () => {
  await server.close();
  await controller.database.close();
});
