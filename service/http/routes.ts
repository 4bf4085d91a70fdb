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
