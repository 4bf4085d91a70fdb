import type { CountingGateway } from "./gateway.ts";
import { type Cost, measured } from "./measure.ts";
import type { Project } from "./project.ts";

/** By MD5 against one listing, as many at a time as relcat. */
export const options = ["--checksum", "--fast-list", "--transfers=8", "--checkers=8"];

/** What relcat publishes, and rclone knows nothing of. */
const excluded = ["/hosting/**", "/metadata/signed.json", "/.relcat*"];

/** Makes a bucket what the built folder is. */
export function rcloneSync({ folder }: Project, bucket: string, gateway: CountingGateway): Promise<Cost> {
  const { AWS_ACCESS_KEY_ID = "", AWS_SECRET_ACCESS_KEY = "" } = gateway.environment;
  const env = {
    AWS_CA_BUNDLE: undefined, // rclone refuses to start with one.
    RCLONE_CONFIG: "/dev/null",
    RCLONE_CONFIG_GATEWAY_TYPE: "s3",
    RCLONE_CONFIG_GATEWAY_PROVIDER: "Ceph",
    RCLONE_CONFIG_GATEWAY_ENDPOINT: gateway.endpoint,
    RCLONE_CONFIG_GATEWAY_ACCESS_KEY_ID: AWS_ACCESS_KEY_ID,
    RCLONE_CONFIG_GATEWAY_SECRET_ACCESS_KEY: AWS_SECRET_ACCESS_KEY,
    RCLONE_CONFIG_GATEWAY_NO_CHECK_BUCKET: "true",
  };
  const exclude = excluded.flatMap((pattern) => ["--exclude", pattern]);
  return measured(["rclone", "sync", "dist", `gateway:${bucket}`, ...options, ...exclude], {
    cwd: folder,
    env,
  });
}
