import { plain } from "./homes/plain.ts";
import { runContract } from "./run-contract.ts";

runContract(plain);
