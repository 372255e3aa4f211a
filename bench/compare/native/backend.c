/*
 * The backend of the side-by-side bench: an HTTP/1.1 responder on one thread that costs less than any proxy in front of it.
 *
 *   backend PORT
 *
 * GET /bytes/<n> answers n bytes, every other request 128 bytes of JSON; bodies of requests are read to their end first.
 * A request with an Upgrade field gets 101, and from then on every byte that it sends back. It trusts its clients: only for
 * loopback.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { HEAD_BYTES = 16384, SCRATCH_BYTES = 1 << 18, LARGE_BYTES = 1 << 20, MAX_DESCRIPTORS = 70000 };

typedef enum { READ_HEAD, READ_SIZED_BODY, READ_CHUNKED_BODY, ECHO } State;

typedef struct {
  int fd;
  State state;
  long body_left;             /* of the request, where it has a Content-Length */
  char head_out[256];         /* of a large response */
  int head_out_bytes, head_out_sent;
  long response_left;         /* body bytes of a large response that are still to be sent */
  int in_bytes;
  char in[HEAD_BYTES + 1];
} Connection;

static Connection *connections[MAX_DESCRIPTORS];
static char large[LARGE_BYTES], scratch[SCRATCH_BYTES], small[512];
static int small_bytes, poller;

static void watch(const Connection *c, int for_writing) {
  struct epoll_event event = {.events = EPOLLIN | (for_writing ? EPOLLOUT : 0), .data.fd = c->fd};
  epoll_ctl(poller, EPOLL_CTL_MOD, c->fd, &event);
}

/* 1: all is sent; 0: the socket takes no more for now; -1: it is broken. */
static int send_large(Connection *c) {
  while (c->head_out_sent < c->head_out_bytes) {
    ssize_t sent = write(c->fd, c->head_out + c->head_out_sent, c->head_out_bytes - c->head_out_sent);
    if (sent < 0) return errno == EAGAIN ? 0 : -1;
    c->head_out_sent += sent;
  }
  while (c->response_left > 0) {
    ssize_t sent = write(c->fd, large, c->response_left < LARGE_BYTES ? c->response_left : LARGE_BYTES);
    if (sent < 0) return errno == EAGAIN ? 0 : -1;
    c->response_left -= sent;
  }
  return 1;
}

/* `bytes` below 0: the small response. Answers -1 when the socket is broken. */
static int respond(Connection *c, long bytes) {
  if (bytes < 0) return write(c->fd, small, small_bytes) == small_bytes ? 0 : -1;
  c->head_out_bytes = sprintf(c->head_out, "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: %ld\r\n\r\n", bytes);
  c->head_out_sent = 0;
  c->response_left = bytes;
  int sent = send_large(c);
  if (sent == 0) watch(c, 1);
  return sent < 0 ? -1 : 0;
}

static int ends_chunks(const char *bytes, long n) { return n >= 5 && memcmp(bytes + n - 5, "0\r\n\r\n", 5) == 0; }

/* Reads the heads that are in the buffer and answers each. */
static int read_heads(Connection *c) {
  for (;;) {
    char *end = memmem(c->in, c->in_bytes, "\r\n\r\n", 4);
    if (end == NULL) return c->in_bytes < HEAD_BYTES ? 0 : -1;
    *end = 0;
    long head_bytes = end - c->in + 4, rest = c->in_bytes - head_bytes;
    char *target = strchr(c->in, ' ');
    long wanted = target != NULL && strncmp(target + 1, "/bytes/", 7) == 0 ? atol(target + 8) : -1;
    char *length = strcasestr(c->in, "\ncontent-length:");
    long body = length == NULL ? 0 : atol(length + 16);
    int is_upgrade = strcasestr(c->in, "\nupgrade:") != NULL;
    int is_chunked = strcasestr(c->in, "\ntransfer-encoding:") != NULL;
    if (is_upgrade) {
      const char *answer = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                           "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n"; /* for the key of RFC 6455 1.2 */
      c->state = ECHO;
      c->in_bytes = 0;
      return write(c->fd, answer, strlen(answer)) < 0 ? -1 : 0;
    }
    if (is_chunked) {
      c->in_bytes = 0;
      if (ends_chunks(c->in + head_bytes, rest)) return respond(c, wanted);
      c->state = READ_CHUNKED_BODY;
      return 0;
    }
    if (body > rest) {
      c->state = READ_SIZED_BODY;
      c->body_left = body - rest;
      c->in_bytes = 0;
      return 0;
    }
    memmove(c->in, c->in + head_bytes + body, rest - body);
    c->in_bytes = rest - body;
    if (respond(c, wanted) < 0) return -1;
  }
}

static int on_readable(Connection *c) {
  int is_head = c->state == READ_HEAD;
  ssize_t n = is_head ? read(c->fd, c->in + c->in_bytes, HEAD_BYTES - c->in_bytes) : read(c->fd, scratch, sizeof scratch);
  if (n <= 0) return n < 0 && errno == EAGAIN ? 0 : -1;
  switch (c->state) {
    case READ_HEAD:
      c->in_bytes += n;
      c->in[c->in_bytes] = 0;
      return read_heads(c);
    case READ_SIZED_BODY:
      c->body_left -= n;
      if (c->body_left > 0) return 0;
      c->state = READ_HEAD;
      return respond(c, -1);
    case READ_CHUNKED_BODY:
      if (!ends_chunks(scratch, n)) return 0;
      c->state = READ_HEAD;
      return respond(c, -1);
    case ECHO:
      return write(c->fd, scratch, n) == n ? 0 : -1;
  }
  return -1;
}

static void end(Connection *c) {
  connections[c->fd] = NULL;
  close(c->fd);
  free(c);
}

static void accept_all(int listener) {
  const int on = 1;
  for (int fd; (fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0;) {
    if (fd >= MAX_DESCRIPTORS) {
      close(fd);
      continue;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    Connection *c = calloc(1, sizeof *c);
    c->fd = fd;
    connections[fd] = c;
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    epoll_ctl(poller, EPOLL_CTL_ADD, fd, &event);
  }
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  signal(SIGPIPE, SIG_IGN);
  memset(large, 'x', sizeof large);
  char body[129];
  memset(body, 'a', 128);
  body[128] = 0;
  small_bytes = sprintf(small, "HTTP/1.1 200 OK\r\nDate: Thu, 20 Nov 2025 20:00:00 GMT\r\nContent-Type: application/json\r\nContent-Length: 128\r\n\r\n%s", body);
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), on = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(atoi(argv[1]))};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (bind(listener, (void *)&address, sizeof address) != 0 || listen(listener, 4096) != 0) {
    perror("backend");
    return 1;
  }
  poller = epoll_create1(0);
  struct epoll_event own = {.events = EPOLLIN, .data.fd = listener}, events[512];
  epoll_ctl(poller, EPOLL_CTL_ADD, listener, &own);
  for (;;) {
    int n = epoll_wait(poller, events, 512, -1);
    for (int i = 0; i < n; i++) {
      int fd = events[i].data.fd;
      if (fd == listener) {
        accept_all(listener);
        continue;
      }
      Connection *c = connections[fd];
      if (c == NULL) continue;
      int result = 0;
      if (events[i].events & EPOLLOUT) {
        result = send_large(c);
        if (result == 1) watch(c, 0);
      }
      if (result >= 0 && events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) result = on_readable(c);
      if (result < 0) end(c);
    }
  }
}
