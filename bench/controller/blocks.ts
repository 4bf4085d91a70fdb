import { monitorEventLoopDelay } from "node:perf_hooks";

const resolution = 1;

/** From now on: says that this process listens, and at its end how long its event loop was blocked at most. */
export function watchBlocks(close: () => Promise<void>): void {
  const delays = monitorEventLoopDelay({ resolution });
  delays.enable();
  process.on("SIGUSR2", () => delays.reset());
  process.once("SIGTERM", async () => {
    process.stdout.write(`${Math.max(0, delays.max / 1e6 - resolution)}\n`);
    await close();
    process.exit();
  });
  process.stdout.write("listening\n");
}
