import { browser } from "./contract-list.ts";
import { send } from "./exchange.ts";
import { listen } from "./homes/file-server.ts";

type Kept = Awaited<ReturnType<typeof send>>;

/** A cache that ignores `Vary`: it keeps each cacheable answer under its address. */
export async function carelessCache(origin: string): Promise<{ origin: string; stop(): void }> {
  const kept = new Map<string, Kept>();
  return listen(async ({ url = "", method = "GET", headers }, response) => {
    const asked = { accept: String(headers.accept ?? "*/*") };
    const answer = kept.get(`${method} ${url}`) ?? (await send(origin + url, method, asked));
    if (/max-age=[1-9]/.test(answer.headers["cache-control"] ?? "")) kept.set(`${method} ${url}`, answer);
    response.writeHead(answer.status, answer.headers).end(answer.body);
  });
}

/** Non-JSON answers that an installer gets after a browser requested the same address; [] if none. */
export async function askedInTurn(url: string): Promise<string[]> {
  const wrong: string[] = [];
  for (const query of [
    "",
    "?ordering=-id",
    "?package_type=deb",
    "?operating_system=linux&package_type=deb&max_os_version=20.04",
  ]) {
    const address = `${url}/api/v1/package/${query}`;
    for (const accept of [browser, "*/*", browser, "application/json"]) {
      const { status, headers } = await send(address, "GET", { Accept: accept });
      const isWrong =
        accept !== browser && (status !== 200 || headers["content-type"] !== "application/json");
      if (isWrong) wrong.push(`${accept} ${address}: ${status} ${headers["content-type"]}`);
    }
  }
  return wrong;
}
