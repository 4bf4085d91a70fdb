interface Found<Route> {
  route: Route;
  params: Readonly<Record<string, string>>;
}

/** Finds the route of a decoded path, with or without a final slash; undefined: none. */
export type Router<Route> = (path: string) => Found<Route> | undefined;

/** A path with one parameter. */
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
