import { apache } from "../site/hosting/homes/apache.ts";
import { caddy } from "../site/hosting/homes/caddy.ts";
import { nginx } from "../site/hosting/homes/nginx.ts";
import { runContract } from "../site/hosting/run-contract.ts";

/** Real servers from Debian's packages, each with the configuration that relcat wrote for it. */
runContract(nginx);
runContract(caddy);
runContract(apache);
