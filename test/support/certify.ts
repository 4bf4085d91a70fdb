import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { temporaryFolder } from "./run.ts";

/** A certificate authority, and a certificate of it. @param name such as IP:127.0.0.1 or DNS:localhost */
export async function certify(
  name: string,
): Promise<{ authority: string; certificate: string; key: string }> {
  const home = temporaryFolder();
  const openssl = (...args: string[]) => execa("openssl", args, { cwd: home });
  const fresh = ["req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
  const own = ["-x509", "-days", "2", "-subj", "/CN=Test authority", "-keyout", "ca.key", "-out", "ca.pem"];
  await openssl(...fresh, ...own);
  await openssl(...fresh, "-subj", "/CN=Test server", "-keyout", "key.pem", "-out", "request.pem");
  writeFileSync(join(home, "names"), `subjectAltName=${name}\n`);
  const issuer = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-extfile", "names"];
  await openssl("x509", "-req", "-in", "request.pem", ...issuer, "-out", "certificate.pem");
  const path = (name: string) => join(home, name);
  return { authority: path("ca.pem"), certificate: path("certificate.pem"), key: path("key.pem") };
}
