import { isIP } from "node:net";
import { UsageError } from "../../cli/terminal/usage.ts";
import type { Problem } from "../../shared/errors.ts";

/** @throws UsageError for text that is neither an address nor a network */
export function refuseUnreadable(proxy: string): void {
  const [address = "", bits = "0", ...rest] = proxy.split("/");
  const most = isIP(address) === 6 ? 128 : 32;
  if (isIP(address) > 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= most && rest.length === 0) return;
  throw new UsageError(
    `--trusted-proxies is ${JSON.stringify(proxy)}, expected addresses or networks`,
    "For example: --trusted-proxies 127.0.0.1 10.0.0.0/8",
  );
}

/** Explains why a server cannot listen; undefined for other errors. */
export function explainListening(error: NodeJS.ErrnoException, address: string): Problem | undefined {
  const refused = (message: string, hint: string): Problem => ({
    code: "address-taken",
    severity: "error",
    message,
    hint,
  });
  if (error.code === "EADDRINUSE")
    return refused(
      `another program is listening on ${address}`,
      "Give another --port; --port 0 takes any free one.",
    );
  if (error.syscall !== "listen" && error.syscall !== "getaddrinfo") return undefined;
  return refused(
    `cannot listen on ${address} (${error.code})`,
    "Give another --host or --port; ports below 1024 need privileges.",
  );
}
