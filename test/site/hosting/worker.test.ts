import { worker } from "./homes/worker.ts";
import { runContract } from "./run-contract.ts";

runContract(worker);
