// A controller as a process of its own, for tests that kill it: node durability-server.ts DATABASE PEPPER
import { settings } from "../../controller/server/controller.ts";
import { openController, serveController } from "../../controller/server/node.ts";

const [database = "", pepper] = process.argv.slice(2);
const say = (text: string) => void process.stdout.write(`${text}\n`);
const limits = { key: 0, address: 0, enrol: 0, login: 0 };
// The same moment as in the tests, so that their keys are valid.
const clock = () => Date.parse("2026-03-21T10:00:00.000Z");
const controller = await openController({
  database,
  pepper,
  settings: { ...settings, limits },
  clock,
  log: say,
});
const server = await serveController(controller, {
  host: "127.0.0.1",
  port: 0,
  clock: () => performance.now(),
  log: () => {},
});
say(server.url);
