import { type Gateway, startGateway } from "../support/ceph.ts";

let gateway: Gateway | undefined;

/** Starts the Ceph object gateway of the suites that need one. */
export async function setup(): Promise<void> {
  gateway = await startGateway();
  const { endpoint, environment } = gateway;
  process.env.RELCAT_TEST_S3 = JSON.stringify({ endpoint, environment });
}

export const teardown = async () => gateway?.stop();
