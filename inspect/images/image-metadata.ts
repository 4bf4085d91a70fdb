import type { ImageMetadata } from "../../shared/package-metadata.ts";
import { architectureNamed } from "../architecture.ts";
import type { Inspection } from "../inspection.ts";
import { Fault, type Verdict } from "../verdict.ts";

/** After these verdicts, the facts of the image may be wrong. */
const unreadable: readonly Verdict[] = ["malformed", "bad-digest", "refuse", "unsupported-format"];

const boots: Readonly<Record<string, ImageMetadata["boot"]>> = { bios: "bios", efi: "uefi", both: "both" };

const contents: Readonly<Record<string, ImageMetadata["content"]>> = {
  container: "container",
  "virtual-machine": "virtual-machine",
  metadata: "metadata",
};

/** The facts of an image; whether its signature is valid does not matter. @throws Fault */
export function imageMetadata({ type, verdict, reason, facts }: Inspection): ImageMetadata {
  if (unreadable.includes(verdict)) throw new Fault(verdict, reason);
  const { architecture, compression, virtual_size: size, inner_sha256: inner } = facts;
  const boot = typeof facts.boot === "string" ? boots[facts.boot] : undefined;
  const content = type === "incus" && typeof facts.content === "string" ? contents[facts.content] : undefined;
  return {
    type: "image",
    ...(typeof architecture === "string" && { arch: architectureNamed(architecture) }),
    format: type,
    ...(typeof compression === "string" && { compression }),
    ...(typeof size === "number" && { virtual_size: size }),
    ...(typeof inner === "string" && { inner_sha256: inner }),
    ...(boot && { boot }),
    ...(content && { content }),
  };
}
