// The eBPF datapath of a node with one pod: packets go from the wire to the pod and back without the node's IP stack, its rules and
// its connection tracking. It is like Cilium's host routing: `to_pod` is the part of bpf_host.c that delivers to a local endpoint,
// `from_pod` the part of bpf_lxc.c that sends to the world, both without policy, services and their own connection tracking.
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/pkt_cls.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

// Filled in before the program is loaded.
volatile const __be32 pod;
volatile const __u8 pod_mac[ETH_ALEN];
volatile const __u32 pod_link;
volatile const __u32 wire;

// The node's own addresses: what the pod sends there is the node's to take. Cilium asks its endpoint map the same.
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 1024);
    __type(key, __be32);
    __type(value, __u8);
} node_addresses SEC(".maps");

// Whether it is a packet that the node would route, and its IPv4 header.
static __always_inline int is_routed(struct __sk_buff *skb, struct iphdr **ip)
{
    *ip = (void *)(long)skb->data + ETH_HLEN;
    // A header beyond the linear part, or a packet at the end of its life, which takes an ICMP message: the stack's work.
    return skb->protocol == bpf_htons(ETH_P_IP) && (void *)(*ip + 1) <= (void *)(long)skb->data_end && (*ip)->ttl > 1;
}

// One hop less, and the checksum that goes with it (RFC 1624), as ip_decrease_ttl() in include/net/ip.h.
static __always_inline void count_hop(struct iphdr *ip)
{
    __u32 check = ip->check + bpf_htons(0x0100);

    ip->check = check + (check >= 0xffff);
    ip->ttl--;
}

// At the ingress of the wire.
SEC("classifier")
int ll_to_pod(struct __sk_buff *skb)
{
    struct ethhdr *eth = (void *)(long)skb->data;
    struct iphdr *ip;

    if (!is_routed(skb, &ip) || ip->daddr != pod)
        return TC_ACT_UNSPEC;
    count_hop(ip);
    // What came to the node leaves from it.
    __builtin_memcpy(eth->h_source, eth->h_dest, ETH_ALEN);
    for (int i = 0; i < ETH_ALEN; i++)
        eth->h_dest[i] = pod_mac[i];
    return bpf_redirect_peer(pod_link, 0);
}

// At the ingress of the node's end of the pod's veth pair: what the pod sends.
SEC("classifier")
int ll_from_pod(struct __sk_buff *skb)
{
    struct iphdr *ip;
    __be32 to;

    if (!is_routed(skb, &ip))
        return TC_ACT_UNSPEC;
    to = ip->daddr;
    if (bpf_map_lookup_elem(&node_addresses, &to))
        return TC_ACT_UNSPEC;
    count_hop(ip);
    // The Ethernet addresses come from the routing and neighbour tables.
    return bpf_redirect_neigh(wire, 0, 0, 0);
}

// None of the helpers asks for the GPL.
char LICENSE[] SEC("license") = "Apache-2.0";
