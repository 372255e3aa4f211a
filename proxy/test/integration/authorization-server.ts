/**
 * An authorization service by Envoy's own complete definitions. It uses other implementations of protocol buffers and
 * gRPC than the gateway.
 */
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { loadPackageDefinition, Server, ServerCredentials, type GrpcObject } from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";

/** A message in the form of proto-loader, with the names of the definitions. */
export type Message = { readonly [field: string]: unknown };
export type Answer = (error: { readonly code: number } | null, response?: Message) => void;

const protos = join(dirname(fileURLToPath(import.meta.resolve("@grpc/grpc-js-xds/package.json"))), "deps");

const loaded = (): GrpcObject =>
  loadPackageDefinition(
    loadSync("envoy/service/auth/v3/external_auth.proto", {
      keepCase: true,
      longs: Number,
      enums: String,
      defaults: true,
      oneofs: true,
      includeDirs: ["envoy-api", "xds", "googleapis", "protoc-gen-validate"].map((name) =>
        join(protos, name),
      ),
    }),
  );

/** Serves `Check` on loopback. */
export async function startAuthorizationServer(
  check: (request: Message, answer: Answer) => void,
): Promise<{ readonly port: number; close(): void }> {
  const { Authorization } = pick(loaded(), "envoy", "service", "auth", "v3") as unknown as {
    readonly Authorization: { readonly service: Parameters<Server["addService"]>[0] };
  };
  const server = new Server();
  server.addService(Authorization.service, {
    Check: (call: { readonly request: Message }, answer: Answer) => check(call.request, answer),
  });
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  return { port, close: () => server.forceShutdown() };
}

const pick = (from: GrpcObject, ...names: readonly string[]): GrpcObject =>
  names.reduce((object, name) => object[name] as GrpcObject, from);
