interface Found<Route> {
  route: Route;
  params: Readonly<Record<string, string>>;
}

/** Finds the route of a decoded path, with or without a final slash; undefined: none. */
type Router<Route> = (path: string) => Found<Route> | undefined;

interface Open<Route> {
  route: Route;
  before: string;
  name: string;
  after: string;
}

const noParams = Object.freeze({});

/** A route without a parameter takes precedence; otherwise the first match. */
export function routerOf<Route extends { path: string }>(routes: readonly Route[]): Router<Route> {
  const fixed = new Map<string, Found<Route>>();
  const open: Open<Route>[] = [];
  for (const route of routes) {
    const path = withoutSlash(route.path);
    const [, before = "", name = "", after = ""] = /^([^:]*):(\w+)([^:]*)$/.exec(path) ?? [];
    if (name !== "") open.push({ route, before, name, after });
    else if (path.includes(":")) throw new Error(`${path} has more than one parameter`);
    else fixed.set(path, { route, params: noParams });
  }
  return (given) => {
    const path = withoutSlash(given);
    const known = fixed.get(path);
    if (known) return known;
    for (const { route, before, name, after } of open) {
      if (!path.startsWith(before) || !path.endsWith(after)) continue;
      const value = path.slice(before.length, path.length - after.length);
      if (value !== "" && !value.includes("/")) return { route, params: { [name]: value } };
    }
    return undefined;
  };
}

const withoutSlash = (path: string) => (path.endsWith("/") ? path.slice(0, -1) : path);

/** Methods of an operation; HEAD and OPTIONS are derived. */
export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

export interface Route<Operation> {
  /** With a final slash, unless it is a file of the site; `:name` matches one segment. */
  path: string;
  /** Name for OPTIONS and the documentation. */
  name: string;
  description: string;
  operations: Partial<Record<Method, Operation>>;
  /** Methods listed in Allow that only other servers at this address support. */
  elsewhere?: readonly Method[];
}

/** Value of the `Allow` header (RFC 9110, 10.2.1). */
export function allowOf<Operation>({ operations, elsewhere = [] }: Route<Operation>): string {
  const methods = new Set<string>([...Object.keys(operations), ...elsewhere]);
  if (methods.has("GET")) methods.add("HEAD");
  return [...order.filter((method) => methods.has(method)), "OPTIONS"].join(", ");
}

const order = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"];

/** The operation of a method; HEAD is handled as GET. */
export function operationOf<Operation>(route: Route<Operation>, method: string): Operation | undefined {
  return route.operations[(method === "HEAD" ? "GET" : method) as Method];
}
