import type { Host } from "../../cli/terminal/host.ts";
import { UsageError } from "../../cli/terminal/usage.ts";
import { type Api, connect, type Place } from "./api.ts";
import { refusalOf } from "./api-problems.ts";

/** A controller: its local database, or its address. */
export interface ControllerPlace extends Place {
  database?: string;
}

/** Calls `work` with the controller's API, over HTTP or directly on the database, with the same results. */
export async function withApi<T>(
  place: ControllerPlace,
  host: Host,
  work: (api: Api) => Promise<T>,
): Promise<T> {
  const { database, url } = place;
  if (database === undefined) return work(connect(place, host, "session"));
  if (url !== undefined) {
    throw new UsageError("--database and --url name two controllers", "Give one of them.");
  }
  const { withController } = await import("./controller-open.ts");
  const { askOnHost } = await import("../server/node-host.ts");
  return withController(database, host, async (controller) => {
    const askHere = askOnHost(controller);
    return work({
      async ask<R>(method: string, path: string, body?: object): Promise<R> {
        const answer = await askHere(method, path, body);
        if (answer.status > 299) throw refusalOf(answer, "host");
        return answer.body as R;
      },
    });
  });
}
