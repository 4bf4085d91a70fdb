import { answerAsThread } from "./outside/second-thread.ts";
import { releaseRenderer } from "./render-release.ts";

answerAsThread(releaseRenderer);
