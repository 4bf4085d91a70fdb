import { caddy } from "../hosting/homes/caddy.ts";
import { nginx } from "../hosting/homes/nginx.ts";
import { runContract } from "../hosting/run-contract.ts";

/** Real servers from Debian's packages, each with the configuration that relcat wrote for it. */
runContract(nginx);
runContract(caddy);
