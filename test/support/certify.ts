import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { temporaryFolder } from "./run.ts";

const newKey = ["req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];

/**
 * Writes a self-signed certificate and its key.
 * @param name common name
 * @param alternative such as IP:127.0.0.1 or DNS:*.example.com
 */
export async function selfSigned(
  folder: string,
  name: string,
  alternative?: string,
): Promise<{ certificate: string; key: string }> {
  const [certificate, key] = [join(folder, "cert.pem"), join(folder, "key.pem")];
  const names = alternative === undefined ? [] : ["-addext", `subjectAltName=${alternative}`];
  const subject = ["-x509", "-days", "2", "-subj", `/CN=${name}`, ...names];
  await execa("openssl", [...newKey, ...subject, "-keyout", key, "-out", certificate]);
  return { certificate, key };
}

/** A certificate authority, and a certificate of it. @param name such as IP:127.0.0.1 or DNS:localhost */
export async function certify(
  name: string,
): Promise<{ authority: string; certificate: string; key: string }> {
  const home = temporaryFolder();
  const openssl = (...args: string[]) => execa("openssl", args, { cwd: home });
  const own = ["-x509", "-days", "2", "-subj", "/CN=Test authority", "-keyout", "ca.key", "-out", "ca.pem"];
  await openssl(...newKey, ...own);
  await openssl(...newKey, "-subj", "/CN=Test server", "-keyout", "key.pem", "-out", "request.pem");
  writeFileSync(join(home, "names"), `subjectAltName=${name}\n`);
  const issuer = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-extfile", "names"];
  await openssl("x509", "-req", "-in", "request.pem", ...issuer, "-out", "certificate.pem");
  const path = (name: string) => join(home, name);
  return { authority: path("ca.pem"), certificate: path("certificate.pem"), key: path("key.pem") };
}
