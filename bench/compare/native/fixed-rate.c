/*
 * Sends requests at a fixed rate, whatever the answers do (an open loop), and measures from the moment at which each was due:
 * a server that stops for a while is charged for everybody who would have waited (no coordinated omission).
 *
 *   fixed-rate PORT HOST PATH CONNECTIONS RATE SECONDS
 *
 * Prints "sent S answered A errors E p50 US p99 US p99.9 US", times in microseconds. The first half second does not count.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { IN_BYTES = 8192, MAX_MICROSECONDS = 1000000, QUEUE = 1 << 16 };

typedef struct {
  int fd, is_busy, in_bytes;
  double due; /* of the request that is under way */
  char in[IN_BYTES + 1];
} Connection;

static long histogram[MAX_MICROSECONDS + 1];
static double waiting[QUEUE]; /* when requests were due for which no connection was free */
static unsigned first_waiting, last_waiting;
static long sent, answered, errors;
static char request[4096];
static int request_bytes;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec * 1e-9;
}

static void send_request(Connection *c, double due) {
  c->is_busy = 1;
  c->due = due;
  c->in_bytes = 0;
  sent++;
  if (write(c->fd, request, request_bytes) != request_bytes) errors++;
}

/* True: the response is complete. */
static int read_response(Connection *c) {
  ssize_t n = read(c->fd, c->in + c->in_bytes, IN_BYTES - c->in_bytes);
  if (n <= 0) {
    errors++;
    c->is_busy = 1; /* never used again */
    close(c->fd);
    return 0;
  }
  c->in_bytes += n;
  c->in[c->in_bytes] = 0;
  char *end = memmem(c->in, c->in_bytes, "\r\n\r\n", 4);
  if (end == NULL) return 0;
  char *length = strcasestr(c->in, "\ncontent-length:");
  long body = length == NULL ? 0 : atol(length + 16);
  if (c->in_bytes < end - c->in + 4 + body) return 0;
  if (memcmp(c->in + 9, "200", 3) != 0) errors++;
  return 1;
}

int main(int argc, char **argv) {
  if (argc != 7) return 2;
  int count = atoi(argv[4]);
  double rate = atof(argv[5]), seconds = atof(argv[6]);
  request_bytes = snprintf(request, sizeof request,
      "GET %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36\r\n"
      "Accept: text/html,application/json;q=0.9,*/*;q=0.8\r\nAccept-Encoding: gzip, deflate, br\r\n"
      "Accept-Language: en-US,en;q=0.5\r\nCookie: sid=0123456789abcdef0123456789abcdef; theme=dark\r\n\r\n",
      argv[3], argv[2]);
  Connection *connections = calloc(count, sizeof *connections);
  int poller = epoll_create1(0), on = 1;
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(atoi(argv[1]))};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  for (int i = 0; i < count; i++) {
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fd, (void *)&address, sizeof address) != 0) {
      perror("fixed-rate");
      return 1;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    connections[i].fd = fd;
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = i};
    epoll_ctl(poller, EPOLL_CTL_ADD, fd, &event);
  }
  double start = now() + 0.05, end = start + seconds, counted_from = start + 0.5;
  long due_count = 0;
  int next = 0;
  struct epoll_event events[256];
  for (double t = now(); t < end; t = now()) {
    for (double due; (due = start + due_count / rate) <= t; due_count++) {
      int i = 0;
      while (i < count && connections[(next + i) % count].is_busy) i++;
      if (i < count) {
        send_request(&connections[(next + i) % count], due);
        next = (next + i + 1) % count;
      } else if (last_waiting - first_waiting < QUEUE) waiting[last_waiting++ % QUEUE] = due;
      else errors++;
    }
    double left = start + due_count / rate - now();
    struct timespec pause = {.tv_sec = 0, .tv_nsec = left > 0 ? (long)((left < 0.1 ? left : 0.1) * 1e9) : 0};
    int n = epoll_pwait2(poller, events, 256, &pause, NULL);
    t = now();
    for (int k = 0; k < n; k++) {
      Connection *c = &connections[events[k].data.u32];
      if (!read_response(c)) continue;
      if (c->due >= counted_from) {
        double us = (t - c->due) * 1e6;
        histogram[us < MAX_MICROSECONDS ? (long)us : MAX_MICROSECONDS]++;
        answered++;
      }
      c->is_busy = 0;
      if (first_waiting != last_waiting) send_request(c, waiting[first_waiting++ % QUEUE]);
    }
  }
  const double shares[] = {0.5, 0.99, 0.999};
  printf("sent %ld answered %ld errors %ld", sent, answered, errors);
  long seen = 0;
  int share = 0;
  for (long us = 0; us <= MAX_MICROSECONDS && share < 3; us++) {
    seen += histogram[us];
    while (share < 3 && answered > 0 && seen >= shares[share] * answered) {
      printf(" p%g %ld", shares[share] * 100, us);
      share++;
    }
  }
  printf("\n");
  return 0;
}
