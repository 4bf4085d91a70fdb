/** A method that an operation answers; HEAD and OPTIONS follow from them. */
export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** One address and what can be done there. */
export interface Route<Operation> {
  /** With a final slash; `:name` stands for one segment. */
  path: string;
  /** What OPTIONS and the documentation call it. */
  name: string;
  description: string;
  operations: Partial<Record<Method, Operation>>;
  /** Listed by Allow although this server does not answer it, because others at this address do. */
  elsewhere?: readonly Method[];
}

/** The value of the `Allow` header (RFC 9110, 10.2.1). */
export function allowOf<Operation>({ operations, elsewhere = [] }: Route<Operation>): string {
  const methods = new Set<string>([...Object.keys(operations), ...elsewhere]);
  if (methods.has("GET")) methods.add("HEAD");
  return [...order.filter((method) => methods.has(method)), "OPTIONS"].join(", ");
}

const order = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"];

/** The operation a request means; HEAD means GET. */
export function operationOf<Operation>(route: Route<Operation>, method: string): Operation | undefined {
  return route.operations[(method === "HEAD" ? "GET" : method) as Method];
}
