import { origin } from "./homes/origin.ts";
import { runContract } from "./run-contract.ts";

runContract(origin);
