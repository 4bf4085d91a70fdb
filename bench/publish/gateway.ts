import { readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { CreateBucketCommand, PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { type Gateway, startGateway } from "../../test/support/ceph.ts";

/** A gateway that is asked, and that tells how often. */
export interface CountingGateway extends Gateway {
  newBucket(name: string): Promise<void>;
  put(bucket: string, key: string, bytes: Uint8Array): Promise<void>;
  /** Requests that a bucket answered since this was asked last. */
  requests(bucket: string): Promise<number>;
}

export async function startCountingGateway(): Promise<CountingGateway> {
  const gateway = await startGateway();
  const client = new S3Client({
    endpoint: gateway.endpoint,
    region: gateway.environment.AWS_REGION ?? "",
    credentials: {
      accessKeyId: gateway.environment.AWS_ACCESS_KEY_ID ?? "",
      secretAccessKey: gateway.environment.AWS_SECRET_ACCESS_KEY ?? "",
    },
    forcePathStyle: true,
  });
  const seen = new Map<string, number>();
  const since = async (bucket: string) => {
    await wait(1000); // The log is written a moment later.
    const all = answered(gateway.log, bucket);
    const before = seen.get(bucket) ?? 0;
    seen.set(bucket, all);
    return all - before;
  };
  return {
    ...gateway,
    async newBucket(name) {
      await client.send(new CreateBucketCommand({ Bucket: name }));
      await since(name);
    },
    async put(bucket, key, bytes) {
      await client.send(new PutObjectCommand({ Bucket: bucket, Key: key, Body: bytes }));
    },
    requests: since,
    async stop() {
      client.destroy();
      await gateway.stop();
    },
  };
}

const answered = (log: string, bucket: string): number =>
  readFileSync(log, "latin1").match(new RegExp(`"[A-Z]+ /${bucket}[/? ]`, "g"))?.length ?? 0;
