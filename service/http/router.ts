interface Found<Route> {
  route: Route;
  params: Readonly<Record<string, string>>;
}

const noParams = Object.freeze({});

/**
 * Finds the route of a decoded path, with or without a final slash; undefined: none. A route without a parameter
 * takes precedence; otherwise the first match.
 */
export function routerOf<Route extends { path: string }>(routes: readonly Route[]) {
  const fixed = new Map<string, Found<Route>>();
  const open: [RegExp, Route][] = [];
  for (const route of routes) {
    const path = withoutSlash(route.path);
    if (path.split(":").length > 2) throw new Error(`${path} has more than one parameter`);
    if (path.includes(":")) open.push([new RegExp(`^${path.replace(/:(\w+)/, "(?<$1>[^/]+)")}$`), route]);
    else fixed.set(path, { route, params: noParams });
  }
  return (given: string): Found<Route> | undefined => {
    const path = withoutSlash(given);
    const known = fixed.get(path);
    if (known) return known;
    for (const [pattern, route] of open) {
      const params = pattern.exec(path)?.groups;
      if (params) return { route, params };
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
