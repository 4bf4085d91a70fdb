import { startOrigin } from "../../../service/catalog/node.ts";
import type { Home } from "../run-contract.ts";

/** relcat's own server. */
export const origin: Home = {
  name: "relcat serve",
  exceptions: [
    {
      part: "encodings",
      exchanges: ["a filtered list"],
      reason: "a list that is selected on request is sent uncompressed",
      instead: { status: 200, headers: { "content-encoding": null } },
    },
  ],
  async start({ folder }) {
    const server = await startOrigin({
      folder,
      host: "127.0.0.1",
      port: 0,
      clock: () => performance.now(),
      log: () => {},
    });
    return { origin: new URL(server.url).origin, stop: () => server.close() };
  },
};
