import type { Board } from "../board.ts";
import { controllerBoard } from "./controller.ts";
import { fleetBoard } from "./fleet.ts";
import { proxyBoard } from "./proxy.ts";
import { routesBoard } from "./routes.ts";

export const boards: readonly Board[] = [proxyBoard, controllerBoard, fleetBoard, routesBoard];
