import type { MethodDefinition } from "@grpc/grpc-js";
import { UnimplementedDiscoveryService } from "./generated/discovery.js";

const { definition } = UnimplementedDiscoveryService;

const identity = (bytes: Buffer): Buffer => bytes;

const rawMethod = <Streams extends boolean>(path: string, streams: Streams) => ({
  path,
  requestStream: streams,
  responseStream: streams,
  requestSerialize: identity,
  requestDeserialize: identity,
  responseSerialize: identity,
  responseDeserialize: identity,
});

/**
 * The methods of the generated service with messages left as bytes. Both ends do their own decoding. The controller
 * answers a malformed message with the status code of the contract, and encodes a snapshot once for all proxies. A
 * proxy that searches for the leader reads a flag and skips the snapshot beside it.
 */
export const rawDiscoveryService = {
  Bootstrap: rawMethod(definition.Bootstrap.path, false),
  Stream: rawMethod(definition.Stream.path, true),
} satisfies Record<string, MethodDefinition<Buffer, Buffer>>;
