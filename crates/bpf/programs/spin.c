// A known cost: for each packet that carries payload to the pod, counts to a number. No CNI does this; it stands for the programs of
// one that takes long, and checks that what a packet's program costs is found where it is.
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/pkt_cls.h>
#include <linux/tcp.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

// Filled in before the program is loaded.
volatile const __u32 loops;

static long count(__u32 index, void *counter)
{
    *(volatile __u64 *)counter += 1;
    return 0;
}

// Whether there is data in it: a request that fits one segment is counted once, and the acknowledgements around it aren't.
static __always_inline int has_payload(struct __sk_buff *skb)
{
    struct iphdr ip;
    struct tcphdr tcp;

    if (skb->protocol != bpf_htons(ETH_P_IP) || bpf_skb_load_bytes(skb, ETH_HLEN, &ip, sizeof ip) || ip.protocol != IPPROTO_TCP)
        return 0;
    if (bpf_skb_load_bytes(skb, ETH_HLEN + ip.ihl * 4, &tcp, sizeof tcp))
        return 0;
    // The length is 0 in a segment of more than 64 KiB that the kernel hasn't cut up yet (BIG TCP).
    return !ip.tot_len || bpf_ntohs(ip.tot_len) > ip.ihl * 4 + tcp.doff * 4;
}

// At the egress of the node's end of the pod's link: what goes to the pod.
SEC("classifier")
int ll_spin(struct __sk_buff *skb)
{
    __u64 counter = 0;

    if (has_payload(skb))
        bpf_loop(loops, count, &counter, 0);
    return TC_ACT_UNSPEC;
}

// None of the helpers asks for the GPL.
char LICENSE[] SEC("license") = "Apache-2.0";
